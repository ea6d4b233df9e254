// SPDX-License-Identifier: Apache-2.0
#include "sealed/safe_open.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scratch.h"

namespace paddle::sealed {
namespace {

namespace fs = std::filesystem;

class SafeOpen : public testing::Test {
 protected:
  SafeOpen() {
    fs::create_directories(path("cache/deep"));
    write("cache/deep/segment.1", "bytes");
    write("secret", "of another tenant");
    directory_ = *open_directory(path("cache"));
  }
  std::string path(const std::string& name) const { return scratch_.path() + "/" + name; }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(path(name)) << text;
  }
  bool opens(const std::string& name, std::optional<uid_t> owner = std::nullopt) {
    return bool(open_beneath(directory_.get(), name, owner));
  }

  const Scratch scratch_;
  UniqueFd directory_;
};

TEST_F(SafeOpen, ARegularFileIsReadOnce) {
  const auto file = open_beneath(directory_.get(), "deep/segment.1", ::getuid());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(*copy_of(file->get(), 100), "bytes");
  EXPECT_TRUE(copy_of(file->get(), 4).is(Code::kInvalid));
}

TEST_F(SafeOpen, LinksAreNotFollowed) {
  fs::create_symlink(path("secret"), path("cache/link"));
  fs::create_symlink("deep/segment.1", path("cache/inside"));
  fs::create_symlink("deep", path("cache/directory"));
  EXPECT_FALSE(opens("link"));
  EXPECT_FALSE(opens("inside"));
  EXPECT_FALSE(opens("directory/segment.1"));
}

TEST_F(SafeOpen, NothingOutsideOfTheDirectoryIsOpened) {
  EXPECT_FALSE(opens("../secret"));
  EXPECT_FALSE(opens("deep/../../secret"));
  EXPECT_FALSE(opens(path("secret")));
  EXPECT_FALSE(opens("/proc/self/environ"));
}

TEST_F(SafeOpen, AFileWithTwoNamesMayBeSomebodyElses) {
  fs::create_hard_link(path("secret"), path("cache/twin"));
  EXPECT_TRUE(open_beneath(directory_.get(), "twin").is(Code::kInvalid));
}

TEST_F(SafeOpen, PipesAndDirectoriesAreNotOpened) {
  ASSERT_EQ(::mkfifo(path("cache/pipe").c_str(), 0600), 0);
  EXPECT_TRUE(open_beneath(directory_.get(), "pipe").is(Code::kInvalid)) << "and it did not block";
  EXPECT_TRUE(open_beneath(directory_.get(), "deep").is(Code::kInvalid));
  EXPECT_TRUE(open_beneath(directory_.get(), "missing").is(Code::kNotFound));
}

TEST_F(SafeOpen, AFileOfAnotherUserIsRefused) {
  EXPECT_FALSE(opens("deep/segment.1", ::getuid() + 1));
}

}  // namespace
}  // namespace paddle::sealed
