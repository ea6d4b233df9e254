// SPDX-License-Identifier: Apache-2.0
#include "source/s3/object_read.h"

#include <cstring>

#include "source/s3/s3_response.h"

namespace paddle::source {
namespace {

Error other_range() { return {Code::kInvalid, "the server sent another range than requested"}; }

}  // namespace

Headers ObjectRead::request() const {
  Headers headers{{"if-match", "\"" + std::string(etag_) + "\""},
                  {"x-amz-checksum-mode", "ENABLED"}};
  // Servers return the checksum of an object only when it is requested as a whole.
  if (is_whole() && received_ == 0) return headers;
  headers.emplace_back("range", "bytes=" + std::to_string(offset_ + received_) + "-" +
                                    std::to_string(offset_ + into_.size() - 1));
  return headers;
}

Result<> ObjectRead::begin(const net::HttpReply& header) {
  if (header.status != 200 && header.status != 206) return Done{};  // the caller's
  if (header.etag.empty() && received_ > 0) {
    restart();
    return Error{Code::kUnavailable, "the server does not say of which version the rest is"};
  }
  if (!header.etag.empty() && !is_same_version(header.etag, etag_)) {
    return Error{Code::kConflict, "the object has changed"};
  }
  bool from_the_start = received_ == 0;
  if (header.status == 206) {
    const std::uint64_t first = offset_ + received_;
    const std::uint64_t last = offset_ + into_.size() - 1;
    const std::string range = "bytes " + std::to_string(first) + "-" + std::to_string(last) + "/";
    if (!header.content_range.starts_with(range)) return other_range();
    const bool all =
        first == 0 && header.content_range.substr(range.size()) == std::to_string(last + 1);
    from_the_start = from_the_start && all;
  } else {
    if (offset_ != 0) return Error{Code::kInvalid, "the server does not support ranges"};
    restart();  // it sends everything again
    from_the_start = true;
  }
  if (!from_the_start) return Done{};
  expected_ = object_checksum(header);
  if (expected_.digest.empty() && md5_etags_) expected_ = md5_of_etag(header, etag_);
  return Done{};
}

Result<> ObjectRead::take(std::string_view piece) {
  if (piece.size() > into_.size() - received_) {
    return Error{Code::kInvalid, "the server sent more bytes than requested"};
  }
  std::memcpy(into_.data() + received_, piece.data(), piece.size());
  received_ += piece.size();
  return Done{};
}

Result<> ObjectRead::end() {
  if (received_ != into_.size()) {
    return Error{Code::kUnavailable, "the server sent fewer bytes than requested"};
  }
  if (expected_.digest.empty()) return Done{};
  if (digest_of(expected_.kind, into_) == expected_.digest) return Done{};
  Error wrong{Code::kUnavailable, "the body does not match its checksum (" +
                                      std::string(name_of(expected_.kind)) + ")"};
  if (expected_.kind == ChecksumKind::kMd5) {
    wrong.message +=
        "; if ETags of this server are no MD5s, put etag-is-md5: \"false\" into the Secret";
  }
  restart();
  return wrong;
}

void ObjectRead::restart() {
  received_ = 0;
  expected_ = {};
}

}  // namespace paddle::source
