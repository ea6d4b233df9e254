// SPDX-License-Identifier: Apache-2.0
#include "source/checksum.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include <openssl/evp.h>

namespace paddle::source {
namespace {

// Reflected CRCs, eight bytes at a time ("slicing by 8"): tables[k] advances a byte by k more.
template <typename Word, Word kPolynomial>
struct Crc {
  using Tables = std::array<std::array<Word, 256>, 8>;

  static constexpr Tables make() {
    Tables tables{};
    for (std::size_t i = 0; i < 256; ++i) {
      Word value = static_cast<Word>(i);
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
      tables[0][i] = value;
    }
    for (std::size_t k = 1; k < 8; ++k) {
      for (std::size_t i = 0; i < 256; ++i) {
        const Word before = tables[k - 1][i];
        tables[k][i] = (before >> 8) ^ tables[0][before & 0xff];
      }
    }
    return tables;
  }
  static constexpr Tables kTables = make();

  static Word of(std::span<const std::byte> bytes) {
    static_assert(std::endian::native == std::endian::little);
    Word crc = ~Word{0};
    while (bytes.size() >= 8) {
      std::uint64_t next = 0;
      std::memcpy(&next, bytes.data(), sizeof next);
      next ^= crc;
      crc = 0;
      for (std::size_t i = 0; i < 8; ++i) crc ^= kTables[7 - i][next >> (8 * i) & 0xff];
      bytes = bytes.subspan(8);
    }
    for (const std::byte byte : bytes) {
      crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<Word>(byte)) & 0xff];
    }
    return ~crc;
  }
};

using Crc32 = Crc<std::uint32_t, 0xedb88320U>;
using Crc32c = Crc<std::uint32_t, 0x82f63b78U>;
using Crc64Nvme = Crc<std::uint64_t, 0x9a6c9329ac4bc9b5ULL>;

template <typename Word>
std::string big_endian(Word value) {
  std::string bytes;
  for (std::size_t i = sizeof value; i-- > 0;) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

std::string evp(const EVP_MD* method, std::span<const std::byte> bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest, &size, method, nullptr) != 1) return {};
  return {reinterpret_cast<const char*>(digest), size};
}

}  // namespace

std::string_view name_of(ChecksumKind kind) {
  switch (kind) {
    case ChecksumKind::kCrc32:
      return "CRC32";
    case ChecksumKind::kCrc32c:
      return "CRC32C";
    case ChecksumKind::kCrc64Nvme:
      return "CRC64NVME";
    case ChecksumKind::kSha1:
      return "SHA1";
    case ChecksumKind::kSha256:
      return "SHA256";
    case ChecksumKind::kMd5:
      break;
  }
  return "MD5";
}

std::size_t digest_size(ChecksumKind kind) {
  switch (kind) {
    case ChecksumKind::kCrc32:
    case ChecksumKind::kCrc32c:
      return 4;
    case ChecksumKind::kCrc64Nvme:
      return 8;
    case ChecksumKind::kSha1:
      return 20;
    case ChecksumKind::kSha256:
      return 32;
    case ChecksumKind::kMd5:
      break;
  }
  return 16;
}

// Without MD5 in the library (FIPS) there is no context, and every digest is empty.
struct RunningMd5::State {
  struct Free {
    void operator()(EVP_MD_CTX* of) const { EVP_MD_CTX_free(of); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context{EVP_MD_CTX_new()};
  bool works = context && EVP_DigestInit_ex(context.get(), EVP_md5(), nullptr) == 1;
};

RunningMd5::RunningMd5() : state_(std::make_unique<State>()) {}
RunningMd5::~RunningMd5() = default;

void RunningMd5::add(std::span<const std::byte> piece) {
  if (!state_->works) return;
  state_->works = EVP_DigestUpdate(state_->context.get(), piece.data(), piece.size()) == 1;
}

std::string RunningMd5::digest() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (!state_->works || EVP_DigestFinal_ex(state_->context.get(), digest, &size) != 1) return {};
  return {reinterpret_cast<const char*>(digest), size};
}

std::string md5_in_etag(std::string_view etag) {
  if (etag.size() != 32) return {};
  const auto value = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::string digest;
  for (std::size_t i = 0; i < etag.size(); i += 2) {
    const int high = value(etag[i]), low = value(etag[i + 1]);
    if (high < 0 || low < 0) return {};
    digest += static_cast<char>(high * 16 + low);
  }
  return digest;
}

std::string digest_of(ChecksumKind kind, std::span<const std::byte> bytes) {
  switch (kind) {
    case ChecksumKind::kCrc32:
      return big_endian(Crc32::of(bytes));
    case ChecksumKind::kCrc32c:
      return big_endian(Crc32c::of(bytes));
    case ChecksumKind::kCrc64Nvme:
      return big_endian(Crc64Nvme::of(bytes));
    case ChecksumKind::kSha1:
      return evp(EVP_sha1(), bytes);
    case ChecksumKind::kSha256:
      return evp(EVP_sha256(), bytes);
    case ChecksumKind::kMd5:
      break;
  }
  return evp(EVP_md5(), bytes);
}

}  // namespace paddle::source
