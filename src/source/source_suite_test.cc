// SPDX-License-Identifier: Apache-2.0
//
// The contract of source.h, tested with the same tests for every source.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "base/scratch.h"
#include "source/directory_source.h"
#include "source/failing_source.h"
#include "source/fake/fake_s3.h"
#include "source/memory_source.h"
#include "source/s3/s3_source.h"

namespace paddle::source {
namespace {

namespace fs = std::filesystem;

// A source and the functions that change its content.
class Stage {
 public:
  virtual ~Stage() = default;
  virtual Source& source() = 0;
  virtual void put(const std::string& path, const std::string& bytes) = 0;
  virtual void remove(const std::string& path) = 0;
};

class MemoryStage : public Stage {
 public:
  Source& source() override { return memory_; }
  void put(const std::string& path, const std::string& bytes) override { memory_.put(path, bytes); }
  void remove(const std::string& path) override { memory_.remove(path); }

 private:
  MemorySource memory_;
};

class FailingStage : public MemoryStage {
 public:
  Source& source() override { return failing_; }

 private:
  FailingSource failing_{MemoryStage::source(),
                         [](FaultPoint, std::string_view) { return std::optional<Error>(); }};
};

class DirectoryStage : public Stage {
 public:
  DirectoryStage() { source_ = *DirectorySource::open(root_); }
  Source& source() override { return *source_; }
  void put(const std::string& path, const std::string& bytes) override {
    const fs::path file = root_ / path;
    fs::create_directories(file.parent_path());
    const fs::path fresh = root_ / "fresh";
    std::ofstream(fresh, std::ios::binary) << bytes;
    fs::rename(fresh, file);
  }
  void remove(const std::string& path) override { fs::remove(root_ / path); }

 private:
  const Scratch scratch_{};
  const fs::path root_ = scratch_.path();
  std::unique_ptr<DirectorySource> source_;
};

class S3Stage : public Stage {
 public:
  S3Stage() {
    source_ = *S3Source::create({.uri = {.bucket = FakeS3::kBucket, .prefix = "some prefix/"},
                                 .endpoint = server_.url(),
                                 .credentials = kKeys,
                                 .page_size = 2});
    server_.put("some prefixes/are others", "not ours");
  }
  Source& source() override { return *source_; }
  void put(const std::string& path, const std::string& bytes) override {
    server_.put("some prefix/" + path, bytes);
  }
  void remove(const std::string& path) override { server_.remove("some prefix/" + path); }

 private:
  static inline const S3Credentials kKeys{
      .access_key = "AKIA", .secret_key = "s", .session_token = "t"};
  FakeS3 server_{kKeys};
  std::unique_ptr<S3Source> source_;
};

template <typename T>
class SourceSuite : public testing::Test {
 protected:
  std::map<std::string, Object> listing() {
    std::map<std::string, Object> found;
    const auto listed = stage_.source().list(
        [&](Object&& object) -> Result<> {
          EXPECT_FALSE(found.contains(object.path)) << object.path;
          found[object.path] = std::move(object);
          return Done{};
        },
        {});
    EXPECT_TRUE(listed) << listed.error().message;
    EXPECT_EQ(listed->objects, found.size());
    return found;
  }

  Result<std::string> read(const std::string& path, const std::string& etag, std::uint64_t offset,
                           std::size_t size, std::stop_token stop = {}) {
    std::string into(size, '?');
    CHECK_DONE(stage_.source().read(path, etag, offset, std::as_writable_bytes(std::span(into)),
                                    std::move(stop)));
    return into;
  }

  T stage_;
};

using Stages = testing::Types<MemoryStage, FailingStage, DirectoryStage, S3Stage>;
TYPED_TEST_SUITE(SourceSuite, Stages);

TYPED_TEST(SourceSuite, AnEmptySourceListsNothing) { EXPECT_TRUE(this->listing().empty()); }

TYPED_TEST(SourceSuite, ListsEveryObjectOnce) {
  const std::map<std::string, std::string> put{{"a", "1"},
                                               {"b/c", "22"},
                                               {"b/d", ""},
                                               {"b/e/f g", "4444"},
                                               {"plus+minus", "5"},
                                               {"per%20cent", "6"},
                                               {"\xe7\x8c\xab/x", "7"},
                                               {"quo\"te&<>", "8"},
                                               {"..dots", "9"},
                                               {"b#?=;/new\x01line", "10"}};
  for (const auto& [path, bytes] : put) this->stage_.put(path, bytes);
  const auto found = this->listing();
  EXPECT_EQ(found.size(), put.size());
  for (const auto& [path, bytes] : put) {
    ASSERT_TRUE(found.contains(path)) << path;
    EXPECT_EQ(found.at(path).size, bytes.size());
    const auto got = this->read(path, found.at(path).etag, 0, bytes.size());
    ASSERT_TRUE(got) << path << ": " << got.error().message;
    EXPECT_EQ(*got, bytes);
  }
}

TYPED_TEST(SourceSuite, ReadsExactlyTheRequestedRange) {
  std::string bytes;
  for (int i = 0; i < 70'000; ++i) bytes += static_cast<char>('a' + i % 23);
  this->stage_.put("big", bytes);
  const std::string etag = this->listing().at("big").etag;
  for (const auto& [offset, size] : {std::pair<std::size_t, std::size_t>{0, 70'000},
                                     {0, 1},
                                     {69'999, 1},
                                     {12'345, 50'000},
                                     {70'000, 0}}) {
    const auto got = this->read("big", etag, offset, size);
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(*got, bytes.substr(offset, size));
  }
  EXPECT_TRUE(this->read("big", etag, 69'999, 2).is(Code::kInvalid));
  EXPECT_TRUE(this->read("big", etag, 70'001, 1).is(Code::kInvalid));
  EXPECT_TRUE(this->read("big", etag, UINT64_MAX, 1).is(Code::kInvalid));
}

TYPED_TEST(SourceSuite, AChangedObjectIsAConflictAndAGoneOneNotFound) {
  this->stage_.put("x", "old bytes");
  const std::string old = this->listing().at("x").etag;
  this->stage_.put("x", "new bytes");
  EXPECT_TRUE(this->read("x", old, 0, 9).is(Code::kConflict));
  const std::string now = this->listing().at("x").etag;
  EXPECT_NE(old, now);
  EXPECT_EQ(*this->read("x", now, 0, 9), "new bytes");
  this->stage_.remove("x");
  EXPECT_TRUE(this->read("x", now, 0, 9).is(Code::kNotFound));
}

TYPED_TEST(SourceSuite, TheSinkCanEndAListing) {
  for (const char* path : {"a", "b", "c", "d", "e"}) this->stage_.put(path, "x");
  int seen = 0;
  const auto listed = this->stage_.source().list(
      [&](Object&&) -> Result<> {
        if (++seen == 3) return Error{Code::kExpired, "enough"};
        return Done{};
      },
      {});
  EXPECT_TRUE(listed.is(Code::kExpired));
  EXPECT_EQ(seen, 3);
}

TYPED_TEST(SourceSuite, AStopEndsACall) {
  this->stage_.put("a", "x");
  const std::string etag = this->listing().at("a").etag;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(this->read("a", etag, 0, 1, stop.get_token()).is(Code::kCancelled));
  const auto listed =
      this->stage_.source().list([](Object&&) -> Result<> { return Done{}; }, stop.get_token());
  EXPECT_TRUE(listed.is(Code::kCancelled));
}

}  // namespace
}  // namespace paddle::source
