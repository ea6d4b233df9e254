// SPDX-License-Identifier: Apache-2.0
//
// What reads and writes files: lists, Secrets, disks.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/statvfs.h>

#include "base/scratch.h"
#include "engine/juicefs/node/disks.h"
#include "engine/juicefs/node/file_list.h"
#include "engine/juicefs/node/list_store.h"
#include "engine/juicefs/node/secret_files.h"

namespace paddle::engine::juicefs {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<std::string>;

class FilesTest : public testing::Test {
 protected:
  void put(const std::string& path, const std::string& text = "x") const {
    fs::create_directories(fs::path(root_ + "/" + path).parent_path());
    std::ofstream(root_ + "/" + path) << text;
  }
  Result<Paths> listed(const Selection& which) const { return list_files(root_, which, {}, {}); }

  const Scratch scratch_{};
  const std::string root_ = scratch_.path();
};

TEST_F(FilesTest, AreListedInTheOrderOfWholePathsWithoutHiddenOnes) {
  for (const char* path : {"b", "a/2", "a/1", "a.txt", "a/.jfs.1.tmp.5", ".stats", ".trash/x"}) {
    put(path);
  }
  fs::create_symlink("/etc", root_ + "/link");
  EXPECT_EQ(*listed({}), (Paths{"a.txt", "a/1", "a/2", "b"}));
  EXPECT_EQ(*listed({.paths = {"b", "/a/", "a/1"}}), (Paths{"a/1", "a/2", "b"}));
}

TEST_F(FilesTest, AreNotFoundOutsideOrThroughLinks) {
  put("a");
  fs::create_symlink("/etc", root_ + "/link");
  EXPECT_TRUE(listed({.paths = {"nope"}}).is(Code::kNotFound));
  EXPECT_TRUE(listed({.paths = {"link/passwd"}}).is(Code::kNotFound));
  EXPECT_TRUE(listed({.paths = {"../etc"}}).is(Code::kInvalid));
  EXPECT_TRUE(listed({.file = "link/passwd"}).is(Code::kNotFound));
}

TEST_F(FilesTest, OfAListKeepItsOrder) {
  put("list.txt", "b\n\n" + root_ + "/a/1\r\n/c\n");
  EXPECT_EQ(*listed({.file = "list.txt"}), (Paths{"b", "a/1", "c"}));
  put("bad.txt", "../b\n");
  EXPECT_TRUE(listed({.file = "bad.txt"}).is(Code::kInvalid));
}

TEST_F(FilesTest, OfAKilledSyncAreFoundByTheirNames) {
  for (const char* path : {"a/.jfs.1.jpg.tmp.123", "a/1.jpg", ".trash/.jfs.2.tmp.5", ".jfs.x.tmp.9",
                           "a/.jfs.mine", "a/.jfs.mine.tmp.x1", "jfs.y.tmp.1"}) {
    put(path);
  }
  const WallTime later = system_clock().wall() + std::chrono::hours{1};
  EXPECT_EQ(*list_leftovers(root_, later, {}), (Paths{".jfs.x.tmp.9", "a/.jfs.1.jpg.tmp.123"}));
  EXPECT_EQ(*list_leftovers(root_, WallTime{}, {}), Paths{});
}

TEST_F(FilesTest, StopWhenToldTo) {
  put("a");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(list_files(root_, {}, {}, stop.get_token()).is(Code::kCancelled));
}

TEST(PartOfList, FollowsTheSampler) {
  const Paths files{"0", "1", "2", "3", "4"};
  EXPECT_EQ(part_of_list(files, {.partitions = 2}, 1), (Paths{"1", "3"}));
  EXPECT_EQ(from_text(to_text(files)), files);
  EXPECT_EQ(from_text(""), Paths{});
}

TEST_F(FilesTest, ListsAreThereOnlyWhenAllAre) {
  const auto store = ListStore::open(root_ + "/lists");
  ASSERT_TRUE(store);
  ASSERT_TRUE(store->write("job-1", 0, "a\n"));
  EXPECT_TRUE(store->read("job-1", 0).is(Code::kNotFound));
  EXPECT_FALSE(store->whole("job-1"));
  ASSERT_TRUE(store->write("job-1", 1, ""));
  ASSERT_TRUE(store->finish("job-1"));
  const auto again = ListStore::open(root_ + "/lists");
  EXPECT_EQ(*again->read("job-1", 0), "a\n");
  EXPECT_EQ(*again->read("job-1", 1), "");
  EXPECT_TRUE(again->read("job-1", 2).is(Code::kNotFound));
  EXPECT_TRUE(store->write("../x", 0, "").is(Code::kInvalid));
}

TEST_F(FilesTest, TheStoreRemembersItsPartAndASyncThatDidNotEnd) {
  const auto store = ListStore::open(root_ + "/lists");
  EXPECT_EQ(store->part(), "");
  ASSERT_TRUE(store->write_part("a\nb\n"));
  EXPECT_EQ(ListStore::open(root_ + "/lists")->part(), "a\nb\n");
  EXPECT_FALSE(store->begin_sync());
  EXPECT_TRUE(store->begin_sync());
  store->end_sync();
  EXPECT_FALSE(store->begin_sync());
}

TEST_F(FilesTest, OldListsAreForgotten) {
  const auto store = ListStore::open(root_ + "/lists");
  const auto job = [](std::size_t i) { return "job-" + std::to_string(i); };
  for (std::size_t i = 0; i < ListStore::kKept + 3; ++i) {
    ASSERT_TRUE(store->write(job(i), 0, "a\n"));
    ASSERT_TRUE(store->finish(job(i)));
    // File times may be too coarse to tell these apart.
    const std::string mark = root_ + "/lists/" + job(i) + ".whole";
    fs::last_write_time(mark, fs::last_write_time(mark) - std::chrono::hours(100 - i));
  }
  ASSERT_TRUE(store->write("last", 0, "a\n"));
  ASSERT_TRUE(store->finish("last"));
  EXPECT_FALSE(fs::exists(root_ + "/lists/" + job(0) + ".0"));
  EXPECT_TRUE(store->read(job(0), 0).is(Code::kNotFound));
  EXPECT_TRUE(store->read(job(ListStore::kKept + 2), 0));
  EXPECT_TRUE(store->read("last", 0));
}

TEST_F(FilesTest, SecretsAreReadKeyByKey) {
  put("secret/access-key", " ak\n");
  put("secret/name", "vol\n");
  put("secret/empty", "\n");
  put("secret/..data/x", "hidden");
  const auto secret = read_secret(root_ + "/secret");
  ASSERT_TRUE(secret);
  EXPECT_EQ(*secret, (SecretFiles{{"access-key", "ak"}, {"name", "vol"}}));
  EXPECT_EQ(secrets_of(*secret), Paths{"ak"});
  EXPECT_EQ(*read_secret(""), SecretFiles{});
  EXPECT_EQ(*read_secret(root_ + "/none"), SecretFiles{});
  EXPECT_TRUE(read_secret(root_ + "/secret/name").is(Code::kUnavailable));
}

TEST_F(FilesTest, EachDiskIsCountedOnce) {
  fs::create_directories(root_ + "/a");
  const DiskSpace once = space_of({root_});
  struct statvfs seen {};
  ASSERT_EQ(::statvfs(root_.c_str(), &seen), 0);
  EXPECT_EQ(once.size, static_cast<std::int64_t>(seen.f_blocks * seen.f_frsize));
  EXPECT_EQ(space_of({root_, root_ + "/a", root_ + "/none"}).size, once.size);
  EXPECT_EQ(space_of({}), DiskSpace{});
}

TEST_F(FilesTest, AListRemembersHowFarItIsAndGoesWithItsJob) {
  const ListStore lists = *ListStore::open(root_ + "/lists");
  EXPECT_EQ(lists.done("sync-1"), 0u);
  ASSERT_TRUE(lists.write("sync-1", 2, "x\n"));
  ASSERT_TRUE(lists.finish("sync-1"));
  lists.note_done("sync-1", 17);
  EXPECT_EQ(lists.done("sync-1"), 17u);
  for (std::size_t i = 0; i <= ListStore::kKept; ++i) {
    fs::last_write_time(root_ + "/lists/sync-1.whole", fs::file_time_type::min());
    const std::string job = "warmup-" + std::to_string(i);
    ASSERT_TRUE(lists.write(job, 0, "y\n"));
    ASSERT_TRUE(lists.finish(job));
    if (!lists.whole("sync-1")) break;
  }
  EXPECT_FALSE(lists.whole("sync-1"));
  for (const auto& entry : fs::directory_iterator(root_ + "/lists")) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("sync-1")) << entry.path();
  }
}

TEST_F(FilesTest, WhatAJobLeftHalfDoneIsRemovedAndWhatIsAtWorkStays) {
  const ListStore lists = *ListStore::open(root_ + "/lists");
  ASSERT_TRUE(lists.write("gave-up", 0, "x\n"));
  ASSERT_TRUE(lists.write("sync.1", 0, "x\n"));
  ASSERT_TRUE(lists.finish("sync.1"));
  fs::last_write_time(root_ + "/lists/sync.1.whole", fs::file_time_type::min());
  auto at_work = lists.hold("sync.1");
  const auto another = lists.hold("half");
  ASSERT_TRUE(lists.write("half", 0, "x\n"));
  for (std::size_t i = 0; i <= ListStore::kKept; ++i) {
    ASSERT_TRUE(lists.finish("warmup-" + std::to_string(i)));
  }
  EXPECT_FALSE(fs::exists(root_ + "/lists/gave-up.0"));
  EXPECT_TRUE(fs::exists(root_ + "/lists/half.0"));
  EXPECT_TRUE(lists.whole("sync.1"));
  at_work.reset();
  ASSERT_TRUE(lists.finish("last"));
  EXPECT_FALSE(lists.whole("sync.1"));
  EXPECT_FALSE(fs::exists(root_ + "/lists/sync.1.0"));
}

TEST_F(FilesTest, WhatCouldNotBeWrittenLeavesNothing) {
  const std::string directory = root_ + "/lists";
  const ListStore lists = *ListStore::open(directory);
  fs::create_directories(directory + "/job.0/in-the-way");
  EXPECT_TRUE(lists.write("job", 0, "x\n").is(Code::kUnavailable));
  EXPECT_FALSE(fs::exists(directory + "/job.0~"));
  put("lists/killed.0~", "half");
  put("lists/killed.1", "x\n");
  put("lists/part", "a\n");
  put("lists/syncing", "");
  const ListStore next = *ListStore::open(directory);
  EXPECT_FALSE(fs::exists(directory + "/killed.0~"));
  EXPECT_FALSE(fs::exists(directory + "/killed.1"));
  EXPECT_EQ(next.part(), "a\n");
  EXPECT_TRUE(next.begin_sync());
}

TEST(Leftover, SaysWhoseItIs) {
  EXPECT_EQ(file_of_leftover("a/.jfs.b.jpg.tmp.42"), "a/b.jpg");
  EXPECT_EQ(file_of_leftover(".jfs.b.tmp.c.tmp.1"), "b.tmp.c");
  EXPECT_EQ(file_of_leftover("a/b.jpg"), "a/b.jpg");
}

}  // namespace
}  // namespace paddle::engine::juicefs
