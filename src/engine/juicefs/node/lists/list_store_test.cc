// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/lists/list_store.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/scratch.h"

namespace paddle::engine::juicefs {
namespace {

namespace fs = std::filesystem;

class ListStoreTest : public testing::Test {
 protected:
  void put(const std::string& path, const std::string& text = "x") const {
    fs::create_directories(fs::path(root_ + "/" + path).parent_path());
    std::ofstream(root_ + "/" + path) << text;
  }

  const Scratch scratch_{};
  const std::string root_ = scratch_.path();
};

TEST_F(ListStoreTest, ListsCanBeReadOnlyWhenAllAreComplete) {
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

TEST_F(ListStoreTest, RemembersItsPartAndAnInterruptedSync) {
  const auto store = ListStore::open(root_ + "/lists");
  EXPECT_EQ(store->part(), "");
  ASSERT_TRUE(store->write_part("a\nb\n"));
  EXPECT_EQ(ListStore::open(root_ + "/lists")->part(), "a\nb\n");
  EXPECT_FALSE(store->begin_sync());
  EXPECT_TRUE(store->begin_sync());
  store->end_sync();
  EXPECT_FALSE(store->begin_sync());
}

TEST_F(ListStoreTest, RemovesOldLists) {
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

TEST_F(ListStoreTest, TheProgressOfAListIsRemovedWithItsJob) {
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

TEST_F(ListStoreTest, RemovesIncompleteListsButNotThoseOfRunningJobs) {
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

TEST_F(ListStoreTest, AFailedWriteLeavesNothing) {
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

}  // namespace
}  // namespace paddle::engine::juicefs
