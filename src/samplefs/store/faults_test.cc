// SPDX-License-Identifier: Apache-2.0
//
// Disks that are full, broken, read-only, sealed or gone: reads go on, nothing is stored, and later
// it is again.
#include <cerrno>
#include <cstring>

#include <gtest/gtest.h>

#include "base/log.h"
#include "samplefs/store/memory_files.h"
#include "samplefs/store/store.h"

namespace paddle::samplefs {
namespace {

using Call = MemoryFiles::Call;

class StoreFaultsTest : public testing::Test {
 protected:
  StoreFaultsTest() { log::set_level(log::Level::kError); }
  ~StoreFaultsTest() override { log::set_level(log::Level::kInfo); }

  std::shared_ptr<Tier> open(std::uint64_t limit = 8 << 20) {
    auto tier = Tier::open({.directory = "cache", .limit = limit, .segment_bytes = 64 << 10},
                           files_, clock_);
    EXPECT_TRUE(tier) << tier.error().message;
    return tier ? *tier : nullptr;
  }
  static Block block(const std::string& path) { return block_at(path, "v", 5000, 0); }
  static std::string bytes(const std::string& path) {
    std::string all;
    while (all.size() < 5000) all += path + ",";
    return all.substr(0, 5000);
  }
  static Tier::Put put(Tier& tier, const std::string& path) {
    const std::string data = bytes(path);
    return tier.put(block(path), std::as_bytes(std::span(data)));
  }
  static bool reads(Tier& tier, const std::string& path) {
    std::string into(5000, '?');
    if (!tier.read(block(path), 0, std::as_writable_bytes(std::span(into)))) return false;
    EXPECT_EQ(into, bytes(path));
    return true;
  }
  static void drop(Tier& tier, const std::string& path) {
    const BlockKey key = block(path).key;
    tier.drop_all({&key, 1});
  }
  static StoreStats stats(const Tier& tier) {
    StoreStats sum;
    tier.add_stats(sum);
    return sum;
  }
  void fail(Call call, int number, const std::string& prefix = "segment.") {
    files_.fault([=](Call each, const std::string& name) {
      return each == call && name.starts_with(prefix) ? number : 0;
    });
  }

  ManualClock clock_;
  MemoryFiles files_;
};

using Put = Tier::Put;

TEST_F(StoreFaultsTest, ADiskThatRefusesWritesIsReadAndTriedAgainAfterAPause) {
  for (const int number : {ENOSPC, EDQUOT, EIO, EROFS, EACCES}) {
    const auto tier = open();
    const std::string name = std::to_string(number);
    ASSERT_EQ(put(*tier, name + "/1"), Put::kStored);
    fail(Call::kWrite, number);
    EXPECT_EQ(put(*tier, name + "/2"), Put::kRefused);
    EXPECT_TRUE(reads(*tier, name + "/1"));
    EXPECT_FALSE(tier->holds(block(name + "/2")));
    EXPECT_FALSE(tier->has_room(block(name + "/2"))) << "so nothing is downloaded in vain";
    EXPECT_NE(stats(*tier).degraded.find(std::strerror(number)), std::string::npos)
        << stats(*tier).degraded;
    EXPECT_EQ(put(*tier, name + "/3"), Put::kRefused);
    EXPECT_EQ(stats(*tier).write_failures, 1u) << "it is not tried each time";
    files_.fault({});
    clock_.advance(std::chrono::seconds(31));
    EXPECT_EQ(put(*tier, name + "/2"), Put::kStored);
    EXPECT_EQ(stats(*tier).degraded, "");
    EXPECT_TRUE(reads(*tier, name + "/2"));
  }
}

TEST_F(StoreFaultsTest, ASlotThatCannotBeWrittenFreesItsExtent) {
  const auto tier = open();
  const auto used = stats(*tier).used;
  fail(Call::kWrite, EIO, "slots");
  EXPECT_EQ(put(*tier, "a"), Put::kRefused);
  EXPECT_EQ(stats(*tier).used, used);
  EXPECT_FALSE(reads(*tier, "a"));
}

TEST_F(StoreFaultsTest, ABlockThatTheDiskCannotReadIsDroppedAndCounted) {
  const auto tier = open();
  ASSERT_EQ(put(*tier, "a"), Put::kStored);
  ASSERT_EQ(put(*tier, "b"), Put::kStored);
  fail(Call::kRead, EIO);
  EXPECT_FALSE(reads(*tier, "a"));
  files_.fault({});
  EXPECT_FALSE(tier->holds(block("a"))) << "status must not call it cached";
  EXPECT_EQ(stats(*tier).unreadable, 1u);
  EXPECT_EQ(stats(*tier).unreadable_errno, EIO);
  EXPECT_EQ(stats(*tier).damaged, 0u);
  EXPECT_EQ(put(*tier, "a"), Put::kStored);
  EXPECT_TRUE(reads(*tier, "a"));
  EXPECT_TRUE(reads(*tier, "b"));
}

TEST_F(StoreFaultsTest, AShortageOfMemoryDropsNothing) {
  const auto tier = open();
  ASSERT_EQ(put(*tier, "a"), Put::kStored);
  fail(Call::kRead, ENOMEM);
  EXPECT_FALSE(reads(*tier, "a"));
  files_.fault({});
  EXPECT_TRUE(reads(*tier, "a"));
  EXPECT_EQ(stats(*tier).unreadable, 0u);
}

TEST_F(StoreFaultsTest, ATableThatCannotBeReadIsAMissAndNoDamage) {
  const auto tier = open();
  ASSERT_EQ(put(*tier, "a"), Put::kStored);
  fail(Call::kRead, EIO, "slots");
  EXPECT_FALSE(reads(*tier, "a"));
  files_.fault({});
  EXPECT_TRUE(reads(*tier, "a"));
}

TEST_F(StoreFaultsTest, ABlockIsNotCalledSyncedWhenTheSyncFailed) {
  {
    const auto tier = open();
    ASSERT_EQ(put(*tier, "a"), Put::kStored);
    fail(Call::kSync, EIO);
    EXPECT_EQ(tier->flush(), EIO);
    EXPECT_NE(stats(*tier).degraded, "");
    files_.fault({});
    EXPECT_EQ(tier->flush(), 0);
    EXPECT_TRUE(reads(*tier, "a"));
  }
  MemoryFiles& before = files_;
  const auto after = before.crash(before.steps(), [](const std::string& file) {
    return file.starts_with("segment") ? 0.0 : 1.0;
  });
  const auto tier = Tier::open({.directory = "cache", .limit = 1 << 20}, *after, clock_);
  ASSERT_TRUE(tier);
  EXPECT_FALSE(reads(**tier, "a"));
  EXPECT_EQ(stats(**tier).damaged, 0u);
}

TEST_F(StoreFaultsTest, ASealedSegmentIsNeitherAppendedToNorPunched) {
  const auto tier = open();
  ASSERT_EQ(put(*tier, "a"), Put::kStored);
  ASSERT_EQ(put(*tier, "b"), Put::kStored);
  const Extent a = *tier->locate(block("a"));
  tier->seal(a.segment.number);
  const std::string before = files_.content(segment_file(a.segment.number));
  ASSERT_EQ(put(*tier, "c"), Put::kStored);
  EXPECT_NE(tier->locate(block("c"))->segment.number, a.segment.number);
  drop(*tier, "a");
  drop(*tier, "b");
  EXPECT_FALSE(reads(*tier, "a")) << "it is dropped for readers of the store";
  EXPECT_GE(stats(*tier).held, 16384u);
  tier->maintain();
  EXPECT_EQ(files_.content(segment_file(a.segment.number)), before);
  const auto used = stats(*tier).used;
  tier->unseal(a.segment.number);
  tier->maintain();
  EXPECT_EQ(files_.content(segment_file(a.segment.number)), "") << "the file is gone";
  EXPECT_EQ(stats(*tier).used, used - 16384);
  EXPECT_EQ(stats(*tier).held, 0u);
  EXPECT_TRUE(reads(*tier, "c"));
}

TEST_F(StoreFaultsTest, SealsAreCounted) {
  const auto tier = open();
  ASSERT_EQ(put(*tier, "a"), Put::kStored);
  const std::uint32_t number = tier->locate(block("a"))->segment.number;
  tier->seal(number);
  tier->seal(number);
  tier->unseal(number);
  drop(*tier, "a");
  tier->maintain();
  EXPECT_NE(files_.content(segment_file(number)), "");
  tier->unseal(number);
  tier->maintain();
  EXPECT_EQ(files_.content(segment_file(number)), "");
}

// FS_IMMUTABLE_FL, set by another process: EPERM for every change.
TEST_F(StoreFaultsTest, AnImmutableSegmentIsReplacedByTheNextAndFreedWhenItMayBe) {
  const auto tier = open();
  ASSERT_EQ(put(*tier, "a"), Put::kStored);
  const std::string sealed = segment_file(tier->locate(block("a"))->segment.number);
  files_.fault([=](Call call, const std::string& name) {
    const bool change = call == Call::kWrite || call == Call::kPunch || call == Call::kRemove;
    return change && name == sealed ? EPERM : 0;
  });
  EXPECT_EQ(put(*tier, "b"), Put::kStored) << "in another segment";
  EXPECT_EQ(stats(*tier).degraded, "");
  EXPECT_NE(segment_file(tier->locate(block("b"))->segment.number), sealed);
  drop(*tier, "a");
  EXPECT_FALSE(reads(*tier, "a"));
  EXPECT_GE(stats(*tier).held, 8192u);
  files_.fault({});
  tier->unseal(1);  // this store has not sealed it: no effect
  tier->retry_held();
  tier->maintain();
  EXPECT_EQ(stats(*tier).held, 0u);
  EXPECT_TRUE(reads(*tier, "b"));
}

TEST_F(StoreFaultsTest, BytesThatASealHoldsDoNotMakeASmallerLimitDropEverything) {
  {
    const auto tier = open();
    for (int i = 0; i < 40; ++i) ASSERT_EQ(put(*tier, std::to_string(i)), Put::kStored);
  }
  files_.fault([](Call call, const std::string&) {
    return call == Call::kPunch || call == Call::kRemove ? EPERM : 0;
  });
  const auto tier = open(30 * 8192 + table_size(kMinSlots));
  for (int i = 0; i < 5; ++i) tier->maintain();
  EXPECT_EQ(stats(*tier).blocks, 30u);
  EXPECT_EQ(stats(*tier).held, 10u * 8192);
}

TEST_F(StoreFaultsTest, ACacheWithoutRoomForALargerTableIsFullAndNotBroken) {
  const auto tier = open(64 * 8192 + table_size(kMinSlots) + 8192);
  int kept = 0;
  for (int i = 0; i < 70; ++i) kept += put(*tier, std::to_string(i)) == Put::kStored ? 1 : 0;
  EXPECT_EQ(kept, 64);
  EXPECT_EQ(stats(*tier).degraded, "");
  EXPECT_FALSE(tier->has_room(block("70")));
  drop(*tier, "3");
  EXPECT_EQ(put(*tier, "71"), Put::kStored);
}

TEST_F(StoreFaultsTest, SpaceThatAKilledProcessLostIsFreedAtTheNextStart) {
  {
    const auto tier = open();
    for (int i = 0; i < 600; ++i) ASSERT_EQ(put(*tier, std::to_string(i)), Put::kStored);
  }
  // As if nine of ten had been written and their slots were lost.
  const auto used = [&] { return stats(*open()).used; };
  const auto before = used();
  {
    std::unique_ptr<StoreDirectory> directory;
    ASSERT_EQ(files_.open_directory("", false, directory), 0);
    std::unique_ptr<SlotTable> table;
    ASSERT_EQ(SlotTable::open(*directory, "slots", OpenMode::kReadWrite, 1, table), 0);
    std::vector<std::uint64_t> lost;
    ASSERT_EQ(table->for_each(0, table->slots(),
                              [&](std::uint64_t index, const Slot& slot) {
                                if (slot.page % 10 != 0) lost.push_back(index);
                              }),
              0);
    for (const auto index : lost) ASSERT_EQ(table->remove(index), 0);
  }
  const auto tier = open();
  tier->maintain();
  EXPECT_LT(stats(*tier).used, before / 2);
  for (int i = 0; i < 600; ++i) {
    EXPECT_EQ(reads(*tier, std::to_string(i)), tier->holds(block(std::to_string(i))));
  }
}

TEST_F(StoreFaultsTest, TheScrubReadsAtItsRateAndNotWithoutOne) {
  constexpr std::uint64_t kMiB = 1 << 20;
  auto opened = Store::open({.directory = "cache", .limit = 64 * kMiB}, clock_, files_);
  ASSERT_TRUE(opened);
  Store& store = **opened;
  store.set_scrub_rate(0);
  const std::string data(kMiB, 'x');
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(
        store.put(block_at(std::to_string(i), "v", kMiB, 0), std::as_bytes(std::span(data))));
  }
  const auto scrubbed_by = [&](int rounds) {
    for (int i = 0; i < rounds; ++i) store.upkeep();
    return store.stats().scrubbed / kMiB;
  };
  EXPECT_EQ(scrubbed_by(5), 0u);
  store.set_scrub_rate(2 * kMiB);
  EXPECT_EQ(scrubbed_by(5), 2u);
  clock_.advance(std::chrono::milliseconds(500));
  EXPECT_EQ(scrubbed_by(5), 3u);
  clock_.advance(std::chrono::hours(1));
  EXPECT_EQ(scrubbed_by(5), 5u) << "a long pause saves up no more than a second";
  store.set_scrub_rate(kMiB / 2);
  clock_.advance(std::chrono::seconds(1));
  EXPECT_EQ(scrubbed_by(5), 6u);
  clock_.advance(std::chrono::seconds(1));
  EXPECT_EQ(scrubbed_by(5), 6u) << "the block was larger than a second's bytes";
  clock_.advance(std::chrono::seconds(1));
  EXPECT_EQ(scrubbed_by(5), 7u);
}

TEST_F(StoreFaultsTest, ADirectoryThatWasRemovedIsFilledAgain) {
  auto store = Store::open({.directory = "cache", .limit = 8 << 20}, clock_, files_);
  ASSERT_TRUE(store);
  const std::string data = bytes("a");
  ASSERT_TRUE((*store)->put(block("a"), std::as_bytes(std::span(data))));
  files_.unlink_all();
  (*store)->upkeep();
  EXPECT_NE((*store)->stats().notice.find("removed or emptied"), std::string::npos);
  EXPECT_FALSE((*store)->holds(block("a")));
  EXPECT_TRUE((*store)->put(block("a"), std::as_bytes(std::span(data))));
  ASSERT_TRUE((*store)->flush());
  EXPECT_FALSE(files_.names().empty());
}

TEST_F(StoreFaultsTest, ADirectoryThatCannotBeMadeAgainIsServedFromWhatIsOpen) {
  auto store = Store::open({.directory = "cache", .limit = 8 << 20}, clock_, files_);
  ASSERT_TRUE(store);
  const std::string data = bytes("a");
  ASSERT_TRUE((*store)->put(block("a"), std::as_bytes(std::span(data))));
  files_.fault([](Call call, const std::string&) { return call == Call::kOpen ? EROFS : 0; });
  files_.unlink_all();
  (*store)->upkeep();
  std::string into(5000, '?');
  EXPECT_TRUE((*store)->read(block("a"), 0, std::as_writable_bytes(std::span(into))));
  EXPECT_EQ(into, data);
  EXPECT_FALSE((*store)->has_room(block("b")));
  EXPECT_NE((*store)->stats().degraded, "");
  files_.fault({});
  (*store)->upkeep();
  EXPECT_TRUE((*store)->has_room(block("b")));
  EXPECT_EQ((*store)->stats().degraded, "");
}

}  // namespace
}  // namespace paddle::samplefs
