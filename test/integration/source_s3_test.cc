// SPDX-License-Identifier: Apache-2.0
//
// The S3 source and the cache behind it, against a real S3 server (versitygw over a directory).
#include <map>

#include <gtest/gtest.h>

#include "samplefs/filler.h"
#include "samplefs/listed_index.h"
#include "samplefs/sample_files.h"
#include "source/s3/s3_source.h"
#include "test/support/s3_gateway.h"
#include "test/support/scratch_dir.h"

namespace paddle {
namespace {

using source::Listed;
using source::Object;
using source::S3Source;

class S3ServerTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto started = server_.start();
    ASSERT_TRUE(started) << started.error().message;
  }
  bool put(const std::string& path, const std::string& bytes) { return server_.put(path, bytes); }
  std::string endpoint() const { return server_.endpoint(); }

  std::unique_ptr<S3Source> source(const std::string& prefix = {}) {
    source::S3Options options;
    options.uri = {.bucket = "bucket", .prefix = prefix};
    options.endpoint = endpoint();
    options.credentials = server_.keys();
    options.page_size = 7;
    options.retry.attempts = 2;
    return *S3Source::create(options);
  }
  static std::map<std::string, Object> listing(S3Source& from) {
    std::map<std::string, Object> found;
    const auto listed = from.list(
        [&](Object&& object) -> Result<> {
          found[object.path] = std::move(object);
          return Done{};
        },
        {});
    EXPECT_TRUE(listed) << listed.error().message;
    return found;
  }
  static Result<std::string> read(S3Source& from, const Object& object, std::uint64_t offset,
                                  std::size_t size) {
    std::string into(size, '?');
    CHECK_DONE(
        from.read(object.path, object.etag, offset, std::as_writable_bytes(std::span(into)), {}));
    return into;
  }

  test::ScratchDir scratch_;
  test::S3Gateway server_{
      {.access_key = "paddle", .secret_key = "paddle+secret/key", .session_token = {}}};
};

TEST_F(S3ServerTest, UnusualKeysAreReturnedUnchanged) {
  std::map<std::string, std::string> put_in;
  for (const char* key :
       {"plain", "with space", "plus+minus", "per%20cent", "\xe7\x8c\xab/\xc3\xa4", "a/b/c&d=e;f",
        "quote\"'<>", "hash#question?", "tilde~(paren)!*,:@$"}) {
    put_in[key] = std::string("bytes of ") + key;
    ASSERT_TRUE(put("/bucket/set 1/" + std::string(key), put_in[key])) << key;
  }
  ASSERT_TRUE(put("/bucket/set 10", "a neighbour"));
  ASSERT_TRUE(put("/bucket/set 1/folder/", ""));
  const auto from = source("set 1/");
  const auto found = listing(*from);
  EXPECT_EQ(found.size(), put_in.size());
  for (const auto& [key, bytes] : put_in) {
    ASSERT_TRUE(found.contains(key)) << key;
    const auto got = read(*from, found.at(key), 0, bytes.size());
    ASSERT_TRUE(got) << key << ": " << got.error().message;
    EXPECT_EQ(*got, bytes);
  }
}

TEST_F(S3ServerTest, ServesRangesAndVersionsAndReportsRefusals) {
  ASSERT_TRUE(put("/bucket/x", "0123456789"));
  const auto from = source();
  const Object x = listing(*from).at("x");
  EXPECT_EQ(*read(*from, x, 3, 4), "3456");
  EXPECT_TRUE(read(*from, x, 8, 5).is(Code::kInvalid));
  EXPECT_TRUE(read(*from, x, 20, 1).is(Code::kInvalid));
  ASSERT_TRUE(put("/bucket/x", "abcdefghij"));
  EXPECT_TRUE(read(*from, x, 0, 4).is(Code::kConflict));
  EXPECT_TRUE(read(*from, {.path = "none", .etag = x.etag}, 0, 1).is(Code::kNotFound));

  source::S3Options wrong;
  wrong.uri = {.bucket = "bucket", .prefix = {}};
  wrong.endpoint = endpoint();
  wrong.credentials = {.access_key = "paddle", .secret_key = "canary-secret"};
  const auto refused =
      (*S3Source::create(wrong))->list([](Object&&) -> Result<> { return Done{}; }, {});
  ASSERT_TRUE(refused.is(Code::kForbidden));
  EXPECT_EQ(refused.error().message.find("canary"), std::string::npos);
}

TEST_F(S3ServerTest, AWholeSetIsIndexedWarmedUpAndReadWithoutTheServer) {
  std::map<std::string, std::string> truth;
  for (int i = 0; i < 40; ++i) {
    const std::string path = "class" + std::to_string(i % 4) + "/" + std::to_string(i) + ".jpg";
    truth[path] = std::string(static_cast<std::size_t>(i) * 1000, static_cast<char>('a' + i % 26));
    ASSERT_TRUE(put("/bucket/" + path, truth[path]));
  }
  const auto from = source();
  const auto index = samplefs::sync_index(*from, scratch_.path() + "/index", 1, {});
  ASSERT_TRUE(index) << index.error().message;
  EXPECT_EQ((*index)->totals().files, 40u);
  const auto store =
      *samplefs::Store::open({.directory = scratch_.path() + "/cache", .limit = 1 << 30});
  samplefs::ReadThrough data(store.get(), *from);
  samplefs::Filler filler(*index, data);
  ASSERT_TRUE(filler.run({}));
  EXPECT_EQ(filler.progress().files_done, 40u) << filler.progress().first_error;

  server_.stop();
  samplefs::SampleFiles files(*index, data);
  for (const auto& [path, bytes] : truth) {
    const auto at = (*index)->resolve(path);
    ASSERT_TRUE(at);
    std::string into(bytes.size() + 10, '?');
    const auto got = files.read((*index)->at(*at).id, 0, std::as_writable_bytes(std::span(into)),
                                BootTime::max());
    ASSERT_TRUE(got) << got.error().message;
    into.resize(*got);
    EXPECT_EQ(into, bytes);
  }
}

}  // namespace
}  // namespace paddle
