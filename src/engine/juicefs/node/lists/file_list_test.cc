// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/lists/file_list.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/scratch.h"

namespace paddle::engine::juicefs {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<std::string>;

class FileListTest : public testing::Test {
 protected:
  void put(const std::string& path, const std::string& text = "x") const {
    fs::create_directories(fs::path(root_ + "/" + path).parent_path());
    std::ofstream(root_ + "/" + path) << text;
  }
  Result<Paths> listed(const Selection& which) const { return list_files(root_, which, {}, {}); }

  const Scratch scratch_{};
  const std::string root_ = scratch_.path();
};

TEST_F(FileListTest, ListsFilesInTheOrderOfWholePathsWithoutHiddenOnes) {
  for (const char* path : {"b", "a/2", "a/1", "a.txt", "a/.jfs.1.tmp.5", ".stats", ".trash/x"}) {
    put(path);
  }
  fs::create_symlink("/etc", root_ + "/link");
  EXPECT_EQ(*listed({}), (Paths{"a.txt", "a/1", "a/2", "b"}));
  EXPECT_EQ(*listed({.paths = {"b", "/a/", "a/1"}}), (Paths{"a/1", "a/2", "b"}));
}

TEST_F(FileListTest, FindsNothingOutsideOfTheMountOrThroughLinks) {
  put("a");
  fs::create_symlink("/etc", root_ + "/link");
  EXPECT_TRUE(listed({.paths = {"nope"}}).is(Code::kNotFound));
  EXPECT_TRUE(listed({.paths = {"link/passwd"}}).is(Code::kNotFound));
  EXPECT_TRUE(listed({.paths = {"../etc"}}).is(Code::kInvalid));
  EXPECT_TRUE(listed({.file = "link/passwd"}).is(Code::kNotFound));
}

TEST_F(FileListTest, KeepsTheOrderOfAListOfPaths) {
  put("list.txt", "b\n\n" + root_ + "/a/1\r\n/c\n");
  EXPECT_EQ(*listed({.file = "list.txt"}), (Paths{"b", "a/1", "c"}));
  put("bad.txt", "../b\n");
  EXPECT_TRUE(listed({.file = "bad.txt"}).is(Code::kInvalid));
}

TEST_F(FileListTest, FindsLeftoversOfAKilledSyncByTheirNames) {
  for (const char* path : {"a/.jfs.1.jpg.tmp.123", "a/1.jpg", ".trash/.jfs.2.tmp.5", ".jfs.x.tmp.9",
                           "a/.jfs.mine", "a/.jfs.mine.tmp.x1", "jfs.y.tmp.1"}) {
    put(path);
  }
  const WallTime later = system_clock().wall() + std::chrono::hours{1};
  EXPECT_EQ(*list_leftovers(root_, later, {}), (Paths{".jfs.x.tmp.9", "a/.jfs.1.jpg.tmp.123"}));
  EXPECT_EQ(*list_leftovers(root_, WallTime{}, {}), Paths{});
}

TEST_F(FileListTest, CountsTheFilesThatTheirDirectoriesName) {
  put("a/1");
  put("a/3");
  put("top");
  fs::create_symlink("a/1", root_ + "/link");
  EXPECT_EQ(*count_listed(root_, {"top", "a/3", "a/1", "a/2", "a", "link", "gone/1"}, {}), 3);
  EXPECT_EQ(*count_listed(root_, {"a/1", "a/1"}, {}), 2) << "a line that is there twice";
}

TEST_F(FileListTest, StopsOnRequest) {
  put("a");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(list_files(root_, {}, {}, stop.get_token()).is(Code::kCancelled));
}

}  // namespace
}  // namespace paddle::engine::juicefs
