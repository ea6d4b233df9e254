// SPDX-License-Identifier: Apache-2.0
#include "source/checksum.h"

#include <gtest/gtest.h>

namespace paddle::source {
namespace {

std::string hex_of(ChecksumKind kind, std::string_view text) {
  std::string shown;
  for (const char c : digest_of(kind, std::as_bytes(std::span(text)))) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(c));
    shown += two;
  }
  return shown;
}

// The check values of the catalogue of CRCs (reveng), and of RFC 1321 and FIPS 180.
TEST(Checksum, HasTheValuesThatStandardsPublish) {
  EXPECT_EQ(hex_of(ChecksumKind::kCrc32, "123456789"), "cbf43926");
  EXPECT_EQ(hex_of(ChecksumKind::kCrc32c, "123456789"), "e3069283");
  EXPECT_EQ(hex_of(ChecksumKind::kCrc64Nvme, "123456789"), "ae8b14860a799888");
  EXPECT_EQ(hex_of(ChecksumKind::kMd5, "abc"), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(hex_of(ChecksumKind::kSha1, "abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(hex_of(ChecksumKind::kSha256, "abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Checksum, OfNothingIsDefined) {
  EXPECT_EQ(hex_of(ChecksumKind::kCrc32c, ""), "00000000");
  EXPECT_EQ(hex_of(ChecksumKind::kMd5, ""), "d41d8cd98f00b204e9800998ecf8427e");
}

TEST(Checksum, EveryKindSeesOneChangedBitWhereverItIs) {
  for (const auto kind : {ChecksumKind::kCrc32, ChecksumKind::kCrc32c, ChecksumKind::kCrc64Nvme,
                          ChecksumKind::kSha1, ChecksumKind::kSha256, ChecksumKind::kMd5}) {
    std::string text(1003, 'x');
    const std::string good = hex_of(kind, text);
    EXPECT_EQ(good.size(), 2 * digest_size(kind)) << name_of(kind);
    for (const std::size_t at : {0U, 7U, 8U, 500U, 1002U}) {
      text[at] = static_cast<char>(text[at] ^ 1);
      EXPECT_NE(hex_of(kind, text), good) << name_of(kind) << " " << at;
      text[at] = static_cast<char>(text[at] ^ 1);
    }
  }
}

TEST(Checksum, AnMd5OfPiecesIsThatOfTheWhole) {
  const std::string text(100'000, 'x');
  RunningMd5 md5;
  for (std::size_t at = 0; at < text.size(); at += 30'000) {
    md5.add(std::as_bytes(
        std::span(text).subspan(at, std::min<std::size_t>(30'000, text.size() - at))));
  }
  EXPECT_EQ(md5.digest(), digest_of(ChecksumKind::kMd5, std::as_bytes(std::span(text))));
}

TEST(Checksum, AnETagIsAnMd5OnlyWith32HexadecimalDigits) {
  const std::string md5 = "900150983cd24fb0d6963f7d28e17f72";
  EXPECT_EQ(md5_in_etag(md5), digest_of(ChecksumKind::kMd5, std::as_bytes(std::span("abc", 3))));
  for (const std::string& other : {md5 + "-2", md5.substr(1), md5.substr(1) + "g", std::string()}) {
    EXPECT_EQ(md5_in_etag(other), "") << other;
  }
}

}  // namespace
}  // namespace paddle::source
