// SPDX-License-Identifier: Apache-2.0
//
// One read of a range of one version of an object, across attempts: what to request next, and which
// responses to accept. Bytes that arrived stay when an attempt is cut off, and the next one
// requests the rest. Bytes are complete only if they match the object's checksum, where there is
// one that covers them. Pure; the HTTP exchange is in s3_source.
//
//   request()   the headers of the next attempt
//   begin()     its response begins: accepts or refuses it, before a byte of it is taken
//   take()      a piece of its body
//   end()       its body is complete; kUnavailable: wrong or too few bytes, try again

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/values/http.h"
#include "source/checksum.h"
#include "source/s3/sigv4.h"

namespace paddle::source {

class ObjectRead {
 public:
  // `object_size` 0: not known. `md5_etags`: an ETag that looks like an MD5 is the object's, and is
  // checked where the server has no other checksum. REQUIRES: `into` is not empty. The texts and
  // bytes outlive it.
  ObjectRead(std::string_view etag, std::uint64_t offset, std::uint64_t object_size,
             std::span<std::byte> into, bool md5_etags)
      : etag_(etag),
        offset_(offset),
        object_size_(object_size),
        into_(into),
        md5_etags_(md5_etags) {}

  Headers request() const;
  Result<> begin(const net::HttpReply& header);
  Result<> take(std::string_view piece);
  Result<> end();

  std::size_t received() const { return received_; }

 private:
  void restart();
  bool is_whole() const { return offset_ == 0 && into_.size() == object_size_; }

  const std::string_view etag_;
  const std::uint64_t offset_;
  const std::uint64_t object_size_;
  const std::span<std::byte> into_;
  const bool md5_etags_;

  std::size_t received_ = 0;
  Checksum expected_{};  // of all of `into_`
};

}  // namespace paddle::source
