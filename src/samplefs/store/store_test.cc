// SPDX-License-Identifier: Apache-2.0
#include "samplefs/store/store.h"

#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <thread>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/scratch.h"
#include "samplefs/store/aligned_bytes.h"

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
  std::unique_ptr<Store> open(std::uint64_t limit = kLimit) {
    auto store = Store::open({.directory = directory(), .limit = limit}, clock_);
    EXPECT_TRUE(store) << store.error().message;
    return store ? *std::move(store) : nullptr;
  }
  static bool put(Store& store, std::string_view path, const std::string& bytes) {
    return store.put(block_of(path, bytes), std::as_bytes(std::span(bytes)));
  }
  // "miss", or the bytes.
  static std::string get(Store& store, std::string_view path, const std::string& like,
                         std::size_t offset = 0, std::size_t size = std::string::npos) {
    std::string into(std::min(size, like.size() - offset), '?');
    const bool hit =
        store.read(block_of(path, like), offset, std::as_writable_bytes(std::span(into)));
    return hit ? into : "miss";
  }
  // What check() finds, and the bytes when it is right.
  static std::string check(Store& store, std::string_view path, const std::string& like) {
    std::string into(like.size(), '?');
    const auto state = store.check(block_of(path, like), std::as_writable_bytes(std::span(into)));
    if (!state) return "absent";
    if (*state == ExtentState::kDamaged) return "damaged";
    return *state == ExtentState::kRight ? into : "unreadable";
  }
  // How many damaged blocks the store has counted, as soon as there are `expected`: when its scrub
  // finds one before a read does, it drops the block an instant before it counts it.
  static std::uint64_t damaged(const Store& store, std::uint64_t expected) {
    for (int i = 0; i < 5000 && store.stats().damaged < expected; ++i) {
      system_clock().sleep(std::chrono::milliseconds{1}, {});
    }
    return store.stats().damaged;
  }
  // The segments, one after the other.
  std::string segment_bytes() const {
    std::string all;
    for (int number = 1; fs::exists(segment(number)); ++number) {
      std::ifstream in(segment(number), std::ios::binary);
      all.append(std::istreambuf_iterator<char>(in), {});
    }
    return all;
  }
  std::string segment(int number) const {
    return directory() + "/segment." + std::to_string(number);
  }
  void damage(std::uint64_t at, char flip = 0x10) const {
    std::fstream file(segment(1), std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(static_cast<std::streamoff>(at));
    const char byte = static_cast<char>(file.get());
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ flip));
  }
  // What files of the cache have on disk.
  std::uint64_t on_disk() const {
    std::uint64_t bytes = 0;
    for (const auto& entry : fs::recursive_directory_iterator(directory())) {
      struct stat seen {};
      if (::lstat(entry.path().c_str(), &seen) == 0 && entry.is_regular_file()) {
        bytes += static_cast<std::uint64_t>(seen.st_blocks) * 512;
      }
    }
    return bytes;
  }

  Scratch scratch_;
  ManualClock clock_;
};

TEST_F(StoreTest, ReturnsStoredBlocks) {
  auto store = open();
  const std::string bytes = content(110'000);
  EXPECT_EQ(get(*store, "a", bytes), "miss");
  EXPECT_TRUE(put(*store, "a", bytes));
  EXPECT_EQ(get(*store, "a", bytes), bytes);
  EXPECT_EQ(get(*store, "a", bytes, 4095, 4098), bytes.substr(4095, 4098));
  EXPECT_EQ(get(*store, "a", bytes, bytes.size() - 1), bytes.substr(bytes.size() - 1));
  EXPECT_EQ(store->stats().blocks, 1u);
  EXPECT_EQ(store->stats().bytes, 110'000u);
  EXPECT_EQ(store->stats().bytes_stored, 110'000u);
}

TEST_F(StoreTest, BlocksOfAllSizesAreReadInPartsOfAllSizes) {
  auto store = open();
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{4096}, std::size_t{4097}, std::size_t{kChunkBytes},
        std::size_t{kChunkBytes} + 1, std::size_t{3 * kChunkBytes}, std::size_t{700'000},
        std::size_t{kBlockSize}}) {
    const std::string path = std::to_string(size);
    const std::string bytes = content(size, static_cast<unsigned>(size));
    ASSERT_TRUE(put(*store, path, bytes));
    EXPECT_TRUE(get(*store, path, bytes) == bytes) << size;
    for (const std::size_t offset : {std::size_t{0}, size / 3, size / 2, size - 1}) {
      for (const std::size_t part : {std::size_t{1}, std::size_t{5000}, std::size_t{200'000}}) {
        EXPECT_TRUE(get(*store, path, bytes, offset, part) == bytes.substr(offset, part))
            << size << " " << offset << " " << part;
      }
    }
  }
}

// The buffers of FUSE replies are aligned; then nothing is copied.
TEST_F(StoreTest, ReadsIntoAlignedMemoryWithoutTouchingWhatFollows) {
  auto store = open();
  const std::string bytes = content(110'000);
  ASSERT_TRUE(put(*store, "a", bytes));
  const AlignedBytes room = aligned_bytes(128 << 10);
  std::memset(room.get(), '?', 128 << 10);
  ASSERT_TRUE(store->read(block_of("a", bytes), 0, {room.get(), bytes.size()}));
  EXPECT_EQ(std::memcmp(room.get(), bytes.data(), bytes.size()), 0);
  EXPECT_EQ(room.get()[bytes.size()], std::byte{'?'});
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
  const std::string bytes = content(300'000);
  ASSERT_TRUE(put(*open(), "a", bytes));
  auto store = open();
  EXPECT_TRUE(store->holds(block_of("a", bytes)));
  EXPECT_EQ(get(*store, "a", bytes, 10, 20), bytes.substr(10, 20));
  EXPECT_TRUE(get(*store, "a", bytes) == bytes);
  EXPECT_EQ(store->stats().blocks, 1u);
  EXPECT_EQ(store->stats().bytes, 300'000u);
  ASSERT_TRUE(put(*store, "b", content(100)));
  EXPECT_FALSE(fs::exists(segment(2))) << "the last segment is continued";
}

TEST_F(StoreTest, HasOneOwner) {
  auto store = open();
  EXPECT_TRUE(Store::open({.directory = directory(), .limit = 1}).is(Code::kConflict));
  store.reset();
  EXPECT_TRUE(open());
}

TEST_F(StoreTest, AnyDamagedByteIsAMissAtTheNextReadNotOnlyAtTheFirst) {
  const std::string bytes = content(600);
  auto store = open();
  for (std::uint64_t at = 0; at < 4096; at += at < 600 ? 13 : 997) {
    ASSERT_TRUE(put(*store, "a", bytes));
    ASSERT_EQ(get(*store, "a", bytes), bytes) << "read once, and right";
    const auto extent = store->locate(block_of("a", bytes));
    ASSERT_TRUE(extent);
    const auto before = store->stats().damaged;
    damage(extent->offset + at);
    EXPECT_EQ(get(*store, "a", bytes), "miss") << at << ": data and the zeros after it";
    EXPECT_EQ(damaged(*store, before + 1), before + 1);
    EXPECT_FALSE(store->holds(block_of("a", bytes))) << "what is damaged is dropped";
  }
}

TEST_F(StoreTest, ReadsVerifyTheChunksThatTheyTouch) {
  auto store = open();
  const std::string bytes = content(1 << 20);
  ASSERT_TRUE(put(*store, "a", bytes));
  const auto extent = store->locate(block_of("a", bytes));
  ASSERT_TRUE(extent);
  damage(extent->offset + 5 * kChunkBytes + 7);
  EXPECT_TRUE(get(*store, "a", bytes, 0, 5 * kChunkBytes) == bytes.substr(0, 5 * kChunkBytes));
  EXPECT_TRUE(get(*store, "a", bytes, 6 * kChunkBytes) == bytes.substr(6 * kChunkBytes));
  EXPECT_EQ(get(*store, "a", bytes, 6 * kChunkBytes - 1, 1), "miss");
  EXPECT_FALSE(store->holds(block_of("a", bytes)));
}

TEST_F(StoreTest, ACheckTellsDamageFromABlockThatIsNotStored) {
  const auto store = open();
  store->set_scrub_rate(0);  // it would find the damage first
  const std::string bytes = content(3 * kChunkBytes);
  ASSERT_TRUE(put(*store, "a", bytes));
  EXPECT_EQ(check(*store, "a", bytes), bytes);
  EXPECT_EQ(check(*store, "b", bytes), "absent");
  EXPECT_EQ(store->stats().bytes_served, 0u);
  damage(store->locate(block_of("a", bytes))->offset + 2 * kChunkBytes);
  EXPECT_EQ(check(*store, "a", bytes), "damaged");
  EXPECT_EQ(store->stats().damaged, 1u);
  EXPECT_EQ(check(*store, "a", bytes), "absent") << "it was dropped";
}

TEST_F(StoreTest, DamagedChecksumsAreAMiss) {
  const std::string bytes = content(1 << 20);
  { ASSERT_TRUE(put(*open(), "a", bytes)); }
  damage((1 << 20) + 3);  // the list follows the data
  auto store = open();
  EXPECT_EQ(get(*store, "a", bytes, 0, 10), "miss");
  EXPECT_EQ(damaged(*store, 1), 1u);
}

TEST_F(StoreTest, DamageThatNobodyReadsIsFoundInTheBackground) {
  auto store = open();
  const std::string bytes = content(5000);
  ASSERT_TRUE(put(*store, "a", bytes));
  damage(100);
  for (int i = 0; i < 20 && store->holds(block_of("a", bytes)); ++i) store->upkeep();
  EXPECT_FALSE(store->holds(block_of("a", bytes)));
  EXPECT_EQ(damaged(*store, 1), 1u);
}

TEST_F(StoreTest, ASlotOfAnotherBlocksBytesIsAMiss) {
  const std::string a = content(600, 1);
  const std::string b = content(600, 2);
  {
    auto store = open();
    ASSERT_TRUE(put(*store, "a", a));
    ASSERT_TRUE(put(*store, "b", b));
  }
  const std::string all = segment_bytes();
  std::ofstream(segment(1), std::ios::binary) << all.substr(4096) << all.substr(0, 4096);
  auto store = open();
  EXPECT_EQ(get(*store, "a", a), "miss");
  EXPECT_EQ(get(*store, "b", b), "miss");
}

TEST_F(StoreTest, ASegmentThatShrinksOrVanishesIsAMissAndFilledAgain) {
  const std::string bytes = content(9000);
  auto store = open();
  ASSERT_TRUE(put(*store, "a", bytes));
  fs::resize_file(segment(1), 4096);
  EXPECT_EQ(get(*store, "a", bytes), "miss");
  ASSERT_TRUE(put(*store, "a", bytes));
  EXPECT_EQ(get(*store, "a", bytes), bytes);
  store.reset();
  fs::remove(segment(1));
  store = open();
  EXPECT_EQ(get(*store, "a", bytes), "miss");
  ASSERT_TRUE(put(*store, "a", bytes));
  EXPECT_EQ(get(*store, "a", bytes), bytes);
}

TEST_F(StoreTest, ADamagedSlotIsAMissAndOtherBlocksAreServed) {
  const std::string bytes = content(600);
  {
    auto store = open();
    for (const char* path : {"a", "b", "c"}) ASSERT_TRUE(put(*store, path, bytes));
  }
  std::string slots;
  {
    std::ifstream in(directory() + "/slots", std::ios::binary);
    slots.assign(std::istreambuf_iterator<char>(in), {});
  }
  // The first slot that is in use.
  const std::size_t at = slots.find_first_not_of('\0', kFirstSlot);
  slots[at + 9] = static_cast<char>(slots[at + 9] ^ 4);
  std::ofstream(directory() + "/slots", std::ios::binary) << slots;
  auto store = open();
  int served = 0;
  for (const char* path : {"a", "b", "c"}) served += get(*store, path, bytes) == bytes ? 1 : 0;
  EXPECT_EQ(served, 2);
  EXPECT_EQ(store->stats().blocks, 2u);
}

TEST_F(StoreTest, AnUnknownSlotTableIsDroppedWithANotice) {
  const std::string bytes = content(600);
  { ASSERT_TRUE(put(*open(), "a", bytes)); }
  std::ofstream(directory() + "/slots", std::ios::binary) << std::string(9000, 'x');
  auto store = open();
  EXPECT_NE(store->stats().notice.find("slot table"), std::string::npos) << store->stats().notice;
  EXPECT_EQ(get(*store, "a", bytes), "miss");
  ASSERT_TRUE(put(*store, "a", bytes));
  EXPECT_EQ(get(*store, "a", bytes), bytes);
}

TEST_F(StoreTest, ACacheOfTheFirstFormatIsDroppedWithANotice) {
  fs::create_directories(directory() + "/blocks.1/ab");
  fs::create_directories(directory() + "/tmp.1");
  std::ofstream(directory() + "/blocks.1/ab/abcdef") << "block";
  std::ofstream(directory() + "/README") << "not ours";
  auto store = open();
  EXPECT_NE(store->stats().notice.find("earlier version"), std::string::npos);
  store->upkeep();
  EXPECT_FALSE(fs::exists(directory() + "/blocks.1"));
  EXPECT_FALSE(fs::exists(directory() + "/tmp.1"));
  EXPECT_TRUE(fs::exists(directory() + "/README"));
  store = nullptr;
  EXPECT_EQ(open()->stats().notice, "");
}

TEST_F(StoreTest, AdmitsBlocksUntilItIsFullAndEvictsNone) {
  const std::string bytes = content(8000);  // two pages
  auto store = open(10 * 8192 + table_size(kMinSlots) + 4096);
  int kept = 0;
  for (int i = 0; i < 30; ++i) kept += put(*store, "f" + std::to_string(i), bytes) ? 1 : 0;
  EXPECT_EQ(kept, 10);
  EXPECT_EQ(store->stats().refused, 20u);
  EXPECT_LE(store->stats().used, store->stats().limit);
  EXPECT_EQ(store->stats().degraded, "") << "full is not broken";
  for (int i = 0; i < 10; ++i) EXPECT_EQ(get(*store, "f" + std::to_string(i), bytes), bytes);
  EXPECT_LE(on_disk(), store->stats().limit);
}

TEST_F(StoreTest, ThousandsOfBlocksStayWithinTheLimitWithTheirSlots) {
  constexpr std::uint64_t kSmall = 6 << 20;
  auto store = open(kSmall);
  int kept = 0;
  for (int i = 0; i < 3000; ++i) {
    kept += put(*store, std::to_string(i), content(100, static_cast<unsigned>(i))) ? 1 : 0;
  }
  EXPECT_GT(kept, 1300);
  EXPECT_LE(store->stats().used, kSmall);
  EXPECT_LE(on_disk(), kSmall + 8192) << "the file system's own blocks";
  for (int i = 0; i < kept; ++i) {
    const std::string bytes = content(100, static_cast<unsigned>(i));
    ASSERT_EQ(get(*store, std::to_string(i), bytes), bytes) << i;
  }
}

TEST_F(StoreTest, ASmallerLimitHoldsAfterARestart) {
  const std::string bytes = content(8000);
  {
    auto store = open();
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(put(*store, "f" + std::to_string(i), bytes));
  }
  auto store = open(5UL * 8192 + table_size(kMinSlots));
  EXPECT_EQ(store->stats().blocks, 5u);
  EXPECT_LE(store->stats().used, store->stats().limit);
  EXPECT_LE(on_disk(), store->stats().limit + 4096);
}

TEST_F(StoreTest, LeavesTheGivenShareOfTheDiskFree) {
  auto all = Store::open({.directory = directory(), .limit = kLimit, .keep_free = 1.0}, clock_);
  ASSERT_TRUE(all);
  EXPECT_FALSE((*all)->has_room(block_of("a", content(100))));
  EXPECT_FALSE(put(**all, "a", content(100)));
  EXPECT_NE((*all)->stats().degraded.find("has less than 100 % free"), std::string::npos);
}

TEST_F(StoreTest, FillsItsTiersInTheirOrder) {
  const std::string bytes = content(8000);
  const auto tiers = [&] {
    return std::vector<TierOptions>{
        {.directory = directory() + "/fast", .limit = 2 * 8192 + table_size(kMinSlots)},
        {.directory = directory() + "/large", .limit = kLimit}};
  };
  for (int life = 0; life < 2; ++life) {
    auto store = *Store::open(tiers(), clock_);
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(put(*store, std::to_string(i), bytes));
    EXPECT_EQ(store->stats().blocks, 5u) << "none is in two tiers";
    std::map<std::uint32_t, int> where;
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(get(*store, std::to_string(i), bytes), bytes);
      ++where[store->locate(block_of(std::to_string(i), bytes))->segment.tier];
    }
    EXPECT_EQ(where, (std::map<std::uint32_t, int>{{0, 2}, {1, 3}}));
  }
  auto store = *Store::open(tiers(), clock_);
  store->clear();
  EXPECT_EQ(store->stats().blocks, 0u);
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
  EXPECT_LE(on_disk(), 4096 + table_size(kMinSlots)) << "their space is free";
  store->clear();
  EXPECT_EQ(store->stats().used, table_size(kMinSlots));
  EXPECT_EQ(store->stats().damaged, 0u);
}

TEST_F(StoreTest, RejectsAFileAsItsDirectory) {
  std::ofstream(scratch_.path() + "/file") << "x";
  EXPECT_TRUE(
      Store::open({.directory = scratch_.path() + "/file", .limit = 1}).is(Code::kUnavailable));
}

TEST_F(StoreTest, ManyThreadsAtOnceGetTheirOwnBytes) {
  auto store = open(40UL * 8192 + table_size(256));
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
    kept += store.put(block_of(path, bytes), std::as_bytes(std::span(bytes)));
  }
  if (kept < 5 || kept > 20) return 2;
  if (store.stats().write_failures != 1) return 3;  // it waits before it tries again
  if (store.stats().degraded.empty()) return 4;
  std::string into(bytes.size(), '?');
  if (!store.read(block_of("0", bytes), 0, std::as_writable_bytes(std::span(into)))) return 5;
  if (into != bytes) return 6;
  store.clear();
  clock.advance(std::chrono::seconds(31));
  if (!store.put(block_of("0", bytes), std::as_bytes(std::span(bytes)))) {
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
