// SPDX-License-Identifier: Apache-2.0
#include "source/directory_source.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/scratch.h"

namespace paddle::source {
namespace {

namespace fs = std::filesystem;

class DirectorySourceTest : public testing::Test {
 protected:
  DirectorySourceTest() {
    fs::create_directories(top_ / "root/sub");
    write("outside", "secret");
    write("root/sub/file", "inside");
    source_ = *DirectorySource::open(top_ / "root");
  }

  void write(const std::string& path, const std::string& bytes) {
    std::ofstream(top_ / path, std::ios::binary) << bytes;
  }

  std::map<std::string, Object> listing() {
    std::map<std::string, Object> found;
    const auto listed = source_->list(
        [&](Object&& object) -> Result<> {
          found[object.path] = std::move(object);
          return Done{};
        },
        {});
    EXPECT_TRUE(listed) << listed.error().message;
    left_out_ = listed->left_out.count;
    examples_ = listed->left_out.examples;
    return found;
  }

  Result<> read(const std::string& path, const std::string& etag, std::size_t size) {
    std::string into(size, '?');
    return source_->read(path, etag, 0, std::as_writable_bytes(std::span(into)), {});
  }

  const Scratch scratch_{};
  const fs::path top_ = scratch_.path();
  std::unique_ptr<DirectorySource> source_;
  std::uint64_t left_out_ = 0;
  std::vector<std::string> examples_{};
};

TEST_F(DirectorySourceTest, NothingLeadsOutOfTheRoot) {
  fs::create_symlink("../outside", top_ / "root/up");
  fs::create_symlink(top_ / "outside", top_ / "root/absolute");
  fs::create_directory_symlink("..", top_ / "root/parent");
  fs::create_symlink("/proc/self/environ", top_ / "root/magic");
  const auto found = listing();
  EXPECT_EQ(found.size(), 1u);
  EXPECT_TRUE(found.contains("sub/file"));
  EXPECT_EQ(left_out_, 4u);
  for (const char* path : {"up", "absolute", "parent/outside", "magic"}) {
    EXPECT_TRUE(read(path, found.at("sub/file").etag, 1).is(Code::kForbidden)) << path;
  }
  for (const char* path : {"../outside", "/etc/passwd", "sub/../../outside", ""}) {
    EXPECT_TRUE(read(path, "x", 1).is(Code::kInvalid)) << path;
  }
}

TEST_F(DirectorySourceTest, ALinkToAFileBeneathTheRootIsThatFile) {
  fs::create_symlink("sub/file", top_ / "root/link");
  const auto found = listing();
  ASSERT_TRUE(found.contains("link"));
  EXPECT_EQ(found.at("link").size, 6u);
  EXPECT_TRUE(read("link", found.at("link").etag, 6));
}

TEST_F(DirectorySourceTest, CyclesAndSpecialFilesAreLeftOut) {
  fs::create_directory_symlink("..", top_ / "root/sub/circle");
  ASSERT_EQ(::mkfifo((top_ / "root/pipe").c_str(), 0600), 0);
  EXPECT_EQ(listing().size(), 1u);
  EXPECT_EQ(left_out_, 2u);
  std::sort(examples_.begin(), examples_.end());
  EXPECT_EQ(examples_, (std::vector<std::string>{"'pipe' (no regular file)",
                                                 "'sub/circle' (a link to a directory)"}));
}

TEST_F(DirectorySourceTest, AFileThatBecameAPipeIsAConflictAndDoesNotHang) {
  const std::string etag = listing().at("sub/file").etag;
  fs::remove(top_ / "root/sub/file");
  ASSERT_EQ(::mkfifo((top_ / "root/sub/file").c_str(), 0600), 0);
  EXPECT_TRUE(read("sub/file", etag, 6).is(Code::kConflict));
}

TEST_F(DirectorySourceTest, ATruncatedFileIsAConflict) {
  const std::string etag = listing().at("sub/file").etag;
  fs::resize_file(top_ / "root/sub/file", 3);
  EXPECT_TRUE(read("sub/file", etag, 6).is(Code::kConflict));
}

TEST_F(DirectorySourceTest, AListingThatDripsOrIsEndlessEndsWithAnError) {
  ManualClock clock;
  for (int i = 0; i < 20; ++i) write("root/sub/" + std::to_string(i), "x");
  const auto list = [&](const DirectoryLimits& limits, std::chrono::seconds each) {
    const auto source = *DirectorySource::open(top_ / "root", clock, limits);
    const auto listed = source->list(
        [&](Object&&) -> Result<> {
          clock.advance(each);
          return Done{};
        },
        {});
    return listed ? std::string("ended") : listed.error().message;
  };
  EXPECT_EQ(list({}, std::chrono::seconds(1)), "ended");
  EXPECT_NE(list({}, std::chrono::hours(1)).find("has not ended in 12 hours"), std::string::npos);
  EXPECT_EQ(list({.most_objects = 22}, {}), "ended") << "a directory and 21 files";
  EXPECT_NE(list({.most_objects = 21}, {}).find("more than 21 files"), std::string::npos);
}

TEST_F(DirectorySourceTest, OpensOnlyDirectories) {
  EXPECT_TRUE(DirectorySource::open(top_ / "none").is(Code::kNotFound));
  EXPECT_TRUE(DirectorySource::open(top_ / "outside").is(Code::kInvalid));
}

}  // namespace
}  // namespace paddle::source
