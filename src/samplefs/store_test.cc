// SPDX-License-Identifier: Apache-2.0
#include "samplefs/store.h"

#include <cstring>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/scratch.h"
#include "samplefs/block_format.h"
#include "samplefs/store_files.h"

namespace paddle::samplefs {
namespace {

namespace fs = std::filesystem;

std::string content(std::size_t size, unsigned seed = 1) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) {
    seed = seed * 1664525u + 1013904223u;
    bytes[i] = static_cast<char>(seed >> 24);
  }
  return bytes;
}

Block block_of(std::string_view path, const std::string& bytes) {
  return block_at(path, "etag", bytes.size(), 0);
}

class StoreTest : public testing::Test {
 protected:
  static constexpr std::uint64_t kLimit = std::uint64_t{1} << 30;

  std::string directory() const { return scratch_.path() + "/cache"; }
  std::unique_ptr<Store> open(std::uint64_t limit = kLimit, bool sync = false) {
    auto store = Store::open({.directory = directory(), .limit = limit, .sync = sync}, clock_);
    EXPECT_TRUE(store) << store.error().message;
    return store ? *std::move(store) : nullptr;
  }
  static bool put(Store& store, std::string_view path, const std::string& bytes,
                  ReadBack read_back = ReadBack::kUnlikely) {
    return store.put(block_of(path, bytes), std::as_bytes(std::span(bytes)), read_back);
  }
  // "miss", or the bytes.
  static std::string get(Store& store, std::string_view path, const std::string& like,
                         std::size_t offset = 0, std::size_t size = std::string::npos) {
    std::string into(std::min(size, like.size() - offset), '?');
    const bool hit =
        store.read(block_of(path, like), offset, std::as_writable_bytes(std::span(into)));
    return hit ? into : "miss";
  }
  std::string file_of(std::string_view path, const std::string& bytes) const {
    return directory() + "/" + block_file(block_of(path, bytes).key);
  }
  std::size_t files_on_disk() const {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(directory())) {
      count += entry.is_regular_file() && entry.path().filename() != "lock" ? 1 : 0;
    }
    return count;
  }

  Scratch scratch_;
  ManualClock clock_;
};

TEST_F(StoreTest, ReturnsStoredBlocks) {
  auto store = open();
  const std::string bytes = content(110'000);
  EXPECT_EQ(get(*store, "a", bytes), "miss");
  for (const ReadBack read_back : {ReadBack::kExpected, ReadBack::kUnlikely}) {
    const std::string path = read_back == ReadBack::kExpected ? "a" : "b";
    EXPECT_TRUE(put(*store, path, bytes, read_back));
    EXPECT_EQ(get(*store, path, bytes), bytes);
    EXPECT_EQ(get(*store, path, bytes, 4095, 4098), bytes.substr(4095, 4098));
    EXPECT_EQ(get(*store, path, bytes, bytes.size() - 1), bytes.substr(bytes.size() - 1));
  }
  EXPECT_EQ(store->stats().blocks, 2u);
  EXPECT_EQ(store->stats().bytes_stored, 220'000u);
}

TEST_F(StoreTest, AnotherVersionOrAnotherSizeIsAnotherBlock) {
  auto store = open();
  const std::string bytes = content(1000);
  ASSERT_TRUE(put(*store, "a", bytes));
  std::string into(1000, '?');
  const auto span = std::as_writable_bytes(std::span(into));
  EXPECT_FALSE(store->read(block_at("a", "etag2", 1000, 0), 0, span));
  EXPECT_FALSE(store->read(block_at("b", "etag", 1000, 0), 0, span));
  EXPECT_FALSE(store->read(block_at("a", "etag", 1001, 0), 0, span));
}

TEST_F(StoreTest, SurvivesARestart) {
  for (const bool sync : {false, true}) {
    const std::string path = sync ? "synced" : "plain";
    const std::string bytes = content(5000);
    ASSERT_TRUE(put(*open(kLimit, sync), path, bytes));
    auto store = open();
    EXPECT_TRUE(store->holds(block_of(path, bytes)));
    EXPECT_EQ(get(*store, path, bytes, 10, 20), bytes.substr(10, 20));
    EXPECT_EQ(get(*store, path, bytes), bytes);
  }
}

TEST_F(StoreTest, HasOneOwner) {
  auto store = open();
  EXPECT_TRUE(Store::open({.directory = directory(), .limit = 1}).is(Code::kConflict));
  store.reset();
  EXPECT_TRUE(open());
}

TEST_F(StoreTest, AnyDamageAfterARestartIsAMiss) {
  const std::string bytes = content(600);
  { ASSERT_TRUE(put(*open(), "a", bytes)); }
  const std::string file = file_of("a", bytes);
  std::string good;
  {
    std::ifstream in(file, std::ios::binary);
    good.assign(std::istreambuf_iterator<char>(in), {});
  }
  ASSERT_EQ(good.size(), stored_size(block_of("a", bytes)));
  const auto served = [&](const std::string& damaged) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << damaged;
    auto store = open();
    std::string whole = get(*store, "a", bytes);
    EXPECT_EQ(store->stats().damaged, whole == "miss" ? 1u : 0u);
    return whole;
  };
  EXPECT_EQ(served(good), bytes);
  for (std::size_t at = 0; at < good.size(); at += 13) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    EXPECT_EQ(served(bad), "miss") << at;
    EXPECT_FALSE(fs::exists(file)) << "what is damaged is dropped";
  }
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, bytes.size(), good.size() - 1}) {
    EXPECT_EQ(served(good.substr(0, size)), "miss");
  }
  EXPECT_EQ(served(good + "x"), "miss");
  EXPECT_EQ(served(std::string(good.size(), '\0')), "miss");
}

TEST_F(StoreTest, ABlockUnderAnotherNameIsAMiss) {
  const std::string a = content(600, 1);
  const std::string b = content(600, 2);
  {
    auto store = open();
    ASSERT_TRUE(put(*store, "a", a));
    ASSERT_TRUE(put(*store, "b", b));
  }
  fs::rename(file_of("a", a), file_of("b", b));
  EXPECT_EQ(get(*open(), "b", b), "miss");
}

TEST_F(StoreTest, AFileThatVanishesOrShrinksWhileItRunsIsAMiss) {
  auto store = open();
  const std::string bytes = content(9000);
  ASSERT_TRUE(put(*store, "gone", bytes));
  ASSERT_TRUE(put(*store, "short", bytes));
  fs::remove(file_of("gone", bytes));
  fs::resize_file(file_of("short", bytes), 4096);
  EXPECT_EQ(get(*store, "gone", bytes), "miss");
  EXPECT_EQ(get(*store, "short", bytes), "miss");
  EXPECT_EQ(store->stats().used, 0u);
  EXPECT_TRUE(put(*store, "gone", bytes));
  EXPECT_EQ(get(*store, "gone", bytes), bytes);
}

TEST_F(StoreTest, AdmitsBlocksUntilItIsFullAndEvictsNone) {
  const std::string bytes = content(8000);  // two pages with its trailer
  auto store = open(10 * 8192 + 4096);
  int kept = 0;
  for (int i = 0; i < 30; ++i) kept += put(*store, "f" + std::to_string(i), bytes) ? 1 : 0;
  EXPECT_EQ(kept, 10);
  EXPECT_EQ(store->stats().refused, 20u);
  EXPECT_LE(store->stats().used, store->stats().limit);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(get(*store, "f" + std::to_string(i), bytes), bytes);
  EXPECT_EQ(files_on_disk(), 10u);
}

TEST_F(StoreTest, ASmallerLimitHoldsAfterARestart) {
  const std::string bytes = content(8000);
  {
    auto store = open();
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(put(*store, "f" + std::to_string(i), bytes));
  }
  auto store = open(5UL * 8192);
  EXPECT_EQ(store->stats().blocks, 5u);
  EXPECT_EQ(files_on_disk(), 5u);
}

TEST_F(StoreTest, LeftoversAreRemovedAndForeignFilesLeftAlone) {
  { open(); }
  std::ofstream(directory() + "/tmp.1/17") << "half";
  fs::create_directory(directory() + "/blocks.1/00");
  std::ofstream(directory() + "/blocks.1/00/README") << "not ours";
  auto store = open();
  EXPECT_FALSE(fs::exists(directory() + "/tmp.1/17"));
  EXPECT_TRUE(fs::exists(directory() + "/blocks.1/00/README"));
  EXPECT_EQ(store->stats().blocks, 0u);
}

TEST_F(StoreTest, ABlockThatCannotBeOpenedIsDroppedCountedAndFetchedAgain) {
  auto store = open();
  const std::string bytes = content(5000);
  ASSERT_TRUE(put(*store, "a", bytes));
  ASSERT_TRUE(put(*store, "b", bytes));
  // A file that open(2) refuses to every user (ENXIO), like another owner's file (EPERM).
  const std::string file = file_of("a", bytes);
  fs::remove(file);
  ASSERT_EQ(::mknod(file.c_str(), S_IFSOCK | 0600, 0), 0);
  EXPECT_EQ(get(*store, "a", bytes), "miss");
  EXPECT_FALSE(store->holds(block_of("a", bytes))) << "status must not call it cached";
  EXPECT_EQ(store->stats().blocks, 1u);
  EXPECT_EQ(store->stats().unreadable, 1u);
  EXPECT_EQ(store->stats().damaged, 0u);
  EXPECT_EQ(store->stats().unreadable_errno, ENXIO);
  ASSERT_TRUE(put(*store, "a", bytes)) << "it may be stored again";
  EXPECT_EQ(get(*store, "a", bytes), bytes);
  EXPECT_EQ(get(*store, "b", bytes), bytes);
}

TEST_F(StoreTest, TooManyOpenFilesDoNotDropTheBlock) {
  auto store = open();
  const std::string bytes = content(5000);
  ASSERT_TRUE(put(*store, "a", bytes));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const std::string got = get(*store, "a", bytes);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(got, "miss");
  EXPECT_EQ(store->stats().unreadable, 0u);
  EXPECT_EQ(get(*store, "a", bytes), bytes);
}

TEST_F(StoreTest, DropsOnlyTheGivenBlocks) {
  auto store = open();
  const std::string bytes = content(100);
  for (const char* path : {"a", "b", "c"}) ASSERT_TRUE(put(*store, path, bytes));
  std::vector<BlockKey> wanted{block_of("b", bytes).key};
  std::vector<BlockKey> unwanted = store->keys();
  EXPECT_TRUE(std::is_sorted(unwanted.begin(), unwanted.end()));
  std::erase(unwanted, wanted.front());
  store->drop_all(unwanted);
  EXPECT_EQ(get(*store, "a", bytes), "miss");
  EXPECT_EQ(get(*store, "b", bytes), bytes);
  EXPECT_EQ(files_on_disk(), 1u);
  store->clear();
  EXPECT_EQ(store->stats().used, 0u);
  EXPECT_EQ(store->stats().damaged, 0u);
}

TEST_F(StoreTest, RejectsAFileAsItsDirectory) {
  std::ofstream(scratch_.path() + "/file") << "x";
  EXPECT_TRUE(
      Store::open({.directory = scratch_.path() + "/file", .limit = 1}).is(Code::kUnavailable));
}

TEST_F(StoreTest, ManyThreadsAtOnceGetTheirOwnBytes) {
  auto store = open(40UL * 8192);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const auto number = static_cast<unsigned>((i * 7 + t) % 60);
        const std::string path = std::to_string(number);
        const std::string bytes = content(8000, number);
        const std::string got = get(*store, path, bytes);
        EXPECT_TRUE(got == "miss" || got == bytes);
        if (got == "miss") put(*store, path, bytes);
        if (i % 50 == 49) store->clear();
      }
    });
  }
  threads.clear();
  EXPECT_LE(store->stats().used, store->stats().limit);
  EXPECT_EQ(store->stats().damaged, 0u);
}

// Runs in a child process with a file system of its own; returns the failed step, 0 on success.
int fill_a_small_disk(const std::string& directory, ManualClock& clock) {
  if (::unshare(CLONE_NEWNS) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return 77;
  fs::create_directory(directory);
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("tmpfs", directory.c_str(), "tmpfs", 0, "size=2m") != 0) {
    return 77;
  }
  auto opened = Store::open({.directory = directory, .limit = std::uint64_t{1} << 30}, clock);
  if (!opened) return 1;
  Store& store = **opened;
  const std::string bytes = content(100'000);
  int kept = 0;
  for (int i = 0; i < 40; ++i) {
    const std::string path = std::to_string(i);
    kept += store.put(block_of(path, bytes), std::as_bytes(std::span(bytes)), ReadBack::kUnlikely);
  }
  if (kept < 5 || kept > 20) return 2;
  if (store.stats().write_failures != 1) return 3;  // it waits before it tries again
  if (!fs::is_empty(directory + "/tmp.1")) return 4;
  std::string into(bytes.size(), '?');
  if (!store.read(block_of("0", bytes), 0, std::as_writable_bytes(std::span(into)))) return 5;
  if (into != bytes) return 6;
  store.clear();
  clock.advance(std::chrono::seconds(31));
  if (!store.put(block_of("0", bytes), std::as_bytes(std::span(bytes)), ReadBack::kUnlikely)) {
    return 7;
  }
  return 0;
}

TEST_F(StoreTest, AFullDiskStopsOnlyWrites) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(fill_a_small_disk(scratch_.path() + "/small", clock_));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "may not mount a small file system here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace paddle::samplefs
