// SPDX-License-Identifier: Apache-2.0
//
// The checksums that object stores return with the body of an object. Pure.

#pragma once

#include <cstddef>
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

}  // namespace paddle::source
