// SPDX-License-Identifier: Apache-2.0
//
// The checksums that object stores return with the body of an object. Pure.

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace paddle::source {

enum class ChecksumKind { kCrc32, kCrc32c, kCrc64Nvme, kSha1, kSha256, kMd5 };

struct Checksum {
  ChecksumKind kind = ChecksumKind::kMd5;
  std::string digest{};  // bytes, the most significant first; empty: there is none
  bool operator==(const Checksum&) const = default;
};

std::string_view name_of(ChecksumKind kind);  // "CRC32C"
std::size_t digest_size(ChecksumKind kind);   // in bytes
std::string digest_of(ChecksumKind kind, std::span<const std::byte> bytes);

// The MD5 of bytes that arrive in pieces.
class RunningMd5 {
 public:
  RunningMd5();
  ~RunningMd5();
  RunningMd5(const RunningMd5&) = delete;
  RunningMd5& operator=(const RunningMd5&) = delete;

  void add(std::span<const std::byte> piece);
  std::string digest();  // call it once, last

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

// The bytes of an ETag that may be the MD5 of its object: 32 hexadecimal digits. Empty: it is none,
// as that of an object that was uploaded in parts.
std::string md5_in_etag(std::string_view etag);

}  // namespace paddle::source
