// SPDX-License-Identifier: Apache-2.0
#include "source/s3/object_read.h"

#include <gtest/gtest.h>

#include "base/base64.h"

namespace paddle::source {
namespace {

constexpr const char* kBytes = "the quick brown fox";
constexpr std::size_t kSize = 19;

net::HttpReply reply(int status, std::vector<std::pair<std::string, std::string>> headers = {}) {
  net::HttpReply header{.status = status, .etag = "\"e\""};
  for (auto& [name, value] : headers) {
    if (name == "content-range") header.content_range = value;
    if (name == "etag") header.etag = value;
  }
  header.headers = std::move(headers);
  return header;
}

std::string range_of(const ObjectRead& read) {
  for (const auto& [name, value] : read.request()) {
    if (name == "range") return value;
  }
  return "";
}

std::pair<std::string, std::string> crc32c_of(std::string_view text) {
  return {"x-amz-checksum-crc32c",
          base64_encode(digest_of(ChecksumKind::kCrc32c, std::as_bytes(std::span(text))))};
}

class ObjectReadTest : public testing::Test {
 protected:
  std::string into_ = std::string(kSize, '?');
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(into_)); }
};

TEST_F(ObjectReadTest, AWholeObjectIsRequestedWithoutARangeAndWithItsChecksum) {
  const ObjectRead whole("e", 0, kSize, bytes(), true);
  EXPECT_EQ(range_of(whole), "");
  EXPECT_EQ(whole.request(), (Headers{{"if-match", "\"e\""}, {"x-amz-checksum-mode", "ENABLED"}}));
  EXPECT_EQ(range_of(ObjectRead("e", 0, 0, bytes(), true)), "bytes=0-18") << "size not known";
  EXPECT_EQ(range_of(ObjectRead("e", 5, 24, bytes(), true)), "bytes=5-23");
}

TEST_F(ObjectReadTest, WhatArrivedStaysAndTheRestIsRequested) {
  ObjectRead read("e", 100, 1000, bytes(), true);
  ASSERT_TRUE(read.begin(reply(206, {{"content-range", "bytes 100-118/1000"}})));
  ASSERT_TRUE(read.take("the quick"));
  EXPECT_TRUE(read.end().is(Code::kUnavailable));
  EXPECT_EQ(range_of(read), "bytes=109-118");
  ASSERT_TRUE(read.begin(reply(206, {{"content-range", "bytes 109-118/1000"}})));
  ASSERT_TRUE(read.take(" brown fox"));
  EXPECT_TRUE(read.end());
  EXPECT_EQ(into_, kBytes);
}

TEST_F(ObjectReadTest, TheRestOfAnotherOrOfAnUnnamedVersionIsRefused) {
  for (const char* etag : {"\"other\"", ""}) {
    ObjectRead read("e", 0, kSize, bytes(), true);
    ASSERT_TRUE(read.begin(reply(200)));
    ASSERT_TRUE(read.take("the quick"));
    const auto rest = read.begin(reply(206, {{"etag", etag}, {"content-range", "bytes 9-18/19"}}));
    EXPECT_TRUE(rest.is(*etag ? Code::kConflict : Code::kUnavailable)) << etag;
  }
}

TEST_F(ObjectReadTest, AServerThatSendsEverythingAgainIsFollowed) {
  ObjectRead read("e", 0, kSize, bytes(), true);
  ASSERT_TRUE(read.begin(reply(200)));
  ASSERT_TRUE(read.take("WRONG WRO"));
  ASSERT_TRUE(read.begin(reply(200)));
  ASSERT_TRUE(read.take(kBytes));
  EXPECT_TRUE(read.end());
  EXPECT_EQ(into_, kBytes);
}

TEST_F(ObjectReadTest, ABodyThatDoesNotMatchIsReadAgainFromItsStart) {
  ObjectRead read("e", 0, kSize, bytes(), true);
  ASSERT_TRUE(read.begin(reply(200, {crc32c_of(kBytes)})));
  ASSERT_TRUE(read.take("the quick brown fax"));
  const auto wrong = read.end();
  ASSERT_TRUE(wrong.is(Code::kUnavailable)) << "another attempt may bring the right bytes";
  EXPECT_NE(wrong.error().message.find("CRC32C"), std::string::npos);
  EXPECT_EQ(read.received(), 0u);
  EXPECT_EQ(range_of(read), "");
  ASSERT_TRUE(read.begin(reply(200, {crc32c_of(kBytes)})));
  ASSERT_TRUE(read.take(kBytes));
  EXPECT_TRUE(read.end());
}

TEST_F(ObjectReadTest, TheChecksumOfTheFirstResponseCoversWhatWasResumed) {
  ObjectRead read("e", 0, kSize, bytes(), true);
  ASSERT_TRUE(read.begin(reply(200, {crc32c_of(kBytes)})));
  ASSERT_TRUE(read.take("the quick"));
  ASSERT_TRUE(read.begin(reply(206, {{"content-range", "bytes 9-18/19"}})));
  ASSERT_TRUE(read.take(" brown fax"));
  EXPECT_TRUE(read.end().is(Code::kUnavailable));
}

TEST_F(ObjectReadTest, AnETagThatIsAnMd5IsCheckedWhenTheObjectIsWhole) {
  const std::string md5 = "a4e1bfb6e37e4bd7e0a5a1f8d14c4fd0";  // of other bytes
  const auto outcome = [&](int status, const std::string& range, bool md5_etags,
                           std::vector<std::pair<std::string, std::string>> more = {}) {
    ObjectRead read(md5, 0, 0, bytes(), md5_etags);
    more.emplace_back("etag", "\"" + md5 + "\"");
    more.emplace_back("content-range", range);
    EXPECT_TRUE(read.begin(reply(status, std::move(more))));
    EXPECT_TRUE(read.take(kBytes));
    return read.end();
  };
  EXPECT_TRUE(outcome(200, "", true).is(Code::kUnavailable));
  EXPECT_TRUE(outcome(206, "bytes 0-18/19", true).is(Code::kUnavailable));
  EXPECT_TRUE(outcome(206, "bytes 0-18/20", true)) << "a part of an object has no MD5";
  EXPECT_TRUE(outcome(200, "", false)) << "switched off";
  EXPECT_TRUE(outcome(200, "", true, {{"x-amz-server-side-encryption", "aws:kms"}}));
  EXPECT_TRUE(outcome(200, "", true, {crc32c_of(kBytes)})) << "a checksum says more than an ETag";
  EXPECT_TRUE(
      outcome(200, "", true, {{"x-amz-server-side-encryption", "AES256"}}).is(Code::kUnavailable));
}

TEST_F(ObjectReadTest, ADigestOfThePartsOfAnObjectIsNotTakenForItsChecksum) {
  for (const auto& headers : std::vector<std::vector<std::pair<std::string, std::string>>>{
           {{"x-amz-checksum-crc32c", "AAAAAA==-3"}},
           {{"x-amz-checksum-crc32c", "AAAAAA=="}, {"x-amz-checksum-type", "COMPOSITE"}},
           {{"x-amz-checksum-crc32c", "not base64!"}},
           {{"x-amz-checksum-sha256", "AAAAAA=="}}}) {
    ObjectRead read("e", 0, kSize, bytes(), true);
    ASSERT_TRUE(read.begin(reply(200, headers)));
    ASSERT_TRUE(read.take(kBytes));
    EXPECT_TRUE(read.end());
  }
}

}  // namespace
}  // namespace paddle::source
