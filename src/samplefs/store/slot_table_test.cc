// SPDX-License-Identifier: Apache-2.0
#include "samplefs/store/slot_table.h"

#include <cerrno>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "samplefs/store/memory_files.h"

namespace paddle::samplefs {
namespace {

Slot slot_of(std::uint64_t number, std::uint32_t page = 0) {
  return {.key_high = number,
          .key_low = number * 0x9e3779b97f4a7c15u,
          .file_size = 10,
          .checksum = number,
          .segment = 1,
          .page = page,
          .length = 10,
          .state = SlotState::kSynced};
}

std::unique_ptr<SlotTable> table_of(MemoryFiles& files, std::uint64_t slots = kMinSlots) {
  std::unique_ptr<StoreDirectory> directory;
  EXPECT_EQ(files.open_directory("", true, directory), 0);
  std::unique_ptr<SlotTable> table;
  EXPECT_EQ(SlotTable::create(*directory, "slots", slots, 1, files.boot(), table), 0);
  return table;
}

int open_again(MemoryFiles& files, std::unique_ptr<SlotTable>& table) {
  std::unique_ptr<StoreDirectory> directory;
  EXPECT_EQ(files.open_directory("", false, directory), 0);
  return SlotTable::open(*directory, "slots", OpenMode::kReadWrite, files.boot(), table);
}

TEST(SlotTable, AgreesWithAMapOnRandomChanges) {
  MemoryFiles files;
  const auto table = table_of(files, 256);
  std::map<std::uint64_t, std::uint32_t> model;
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t number = 1 + random() % 180;
    const auto found = table->find(slot_of(number).key());
    ASSERT_EQ(found.slot.has_value(), model.contains(number));
    ASSERT_TRUE(!found.slot || found.slot->page == model[number]);
    if (found.slot && random() % 2) {
      ASSERT_EQ(table->remove(found.index), 0);
      model.erase(number);
    } else if (!found.slot) {
      std::optional<std::uint64_t> index;
      const int refused =
          table->insert(slot_of(number, static_cast<std::uint32_t>(random() % 1000)), index);
      if (refused == ENOSPC && !index) continue;  // its buckets are full
      ASSERT_EQ(refused, 0);
      model[number] = table->find(slot_of(number).key()).slot->page;
    }
  }
  std::set<std::uint64_t> seen;
  ASSERT_EQ(table->for_each(0, 256, [&](auto, const Slot& slot) { seen.insert(slot.key_high); }),
            0);
  EXPECT_EQ(seen.size(), model.size());
}

TEST(SlotTable, IsFilledToTheLastSlotBeforeItHasNoPlace) {
  MemoryFiles files;
  const auto table = table_of(files);
  std::optional<std::uint64_t> index;
  for (std::uint64_t i = 1; i <= kMinSlots; ++i) ASSERT_EQ(table->insert(slot_of(i), index), 0);
  EXPECT_EQ(table->insert(slot_of(1000), index), ENOSPC);
  EXPECT_FALSE(index);
  for (std::uint64_t i = 1; i <= kMinSlots; ++i) EXPECT_TRUE(table->find(slot_of(i).key()).slot);
  EXPECT_FALSE(table->find(slot_of(1000).key()).slot);
}

TEST(SlotTable, ALargerTableHasAllSlotsOfAFullOne) {
  for (const std::uint64_t slots : {std::uint64_t{64}, std::uint64_t{1024}, std::uint64_t{16384}}) {
    MemoryFiles files;
    const auto table = table_of(files, slots);
    std::optional<std::uint64_t> index;
    std::uint64_t count = 0;
    while (table->insert(slot_of(count + 1), index) == 0) ++count;
    EXPECT_GT(count, slots / 2);
    MemoryFiles others;
    const auto larger = table_of(others, slots * 4);
    bool crowded = false;
    ASSERT_EQ(larger->copy_from(*table, crowded), 0);
    for (std::uint64_t i = 1; i <= count; ++i) {
      ASSERT_TRUE(larger->find(slot_of(i).key()).slot) << i << " of " << slots;
    }
    MemoryFiles small;
    const auto smaller = table_of(small);
    EXPECT_EQ(smaller->copy_from(*larger, crowded), count > kMinSlots ? ENOSPC : 0);
    EXPECT_EQ(crowded, count > kMinSlots);
  }
}

TEST(SlotTable, AnyDamagedByteOfASlotMakesItAMiss) {
  MemoryFiles files;
  auto table = table_of(files);
  std::optional<std::uint64_t> index;
  ASSERT_EQ(table->insert(slot_of(7), index), 0);
  const std::string good = files.content("slots");
  for (std::size_t at = 0; at < sizeof(Slot); ++at) {
    std::string bad = good;
    bad[kFirstSlot + *index * sizeof(Slot) + at] ^= 0x20;
    files.set_content("slots", bad);
    const auto found = table->find(slot_of(7).key());
    EXPECT_FALSE(found.slot) << at;
    EXPECT_TRUE(found.damaged) << at;
  }
}

TEST(SlotTable, UnsyncedSlotsAreValidUntilTheMachineStartsAgain) {
  MemoryFiles files;
  {
    const auto table = table_of(files);
    Slot unsynced = slot_of(1);
    unsynced.state = SlotState::kUnsynced;
    std::optional<std::uint64_t> index;
    ASSERT_EQ(table->insert(unsynced, index), 0);
    ASSERT_EQ(table->insert(slot_of(2), index), 0);
  }
  const auto seen = [](MemoryFiles& disk) {
    std::unique_ptr<SlotTable> table;
    std::string found;
    if (open_again(disk, table) != 0) return std::string("not opened");
    for (const std::uint64_t number : {1u, 2u}) {
      if (table->find(slot_of(number).key()).slot) found += std::to_string(number);
    }
    return found;
  };
  EXPECT_EQ(seen(*files.kill(files.steps())), "12");
  const auto after = files.crash(files.steps(), [](const std::string&) { return 1.0; });
  EXPECT_EQ(seen(*after), "2");
  EXPECT_EQ(seen(*after->kill(after->steps())), "2") << "also after another start of the process";
}

TEST(SlotTable, OneDamagedHeaderIsNoHarmAndTwoAreRefused) {
  MemoryFiles files;
  table_of(files).reset();
  auto started = files.crash(files.steps(), [](const std::string&) { return 1.0; });
  std::unique_ptr<SlotTable> table;
  ASSERT_EQ(open_again(*started, table), 0);  // writes the other copy
  const std::uint32_t epoch = table->epoch();
  EXPECT_GT(epoch, 1u);
  const std::string good = started->content("slots");
  std::string bad = good;
  bad[20] ^= 1;
  started->set_content("slots", bad);
  ASSERT_EQ(open_again(*started, table), 0);
  EXPECT_EQ(table->epoch(), epoch);
  bad[2048 + 20] ^= 1;
  started->set_content("slots", bad);
  EXPECT_EQ(open_again(*started, table), EILSEQ);
  started->set_content("slots", good.substr(0, good.size() - 1));
  EXPECT_EQ(open_again(*started, table), EILSEQ) << "a table that is cut off";
  started->set_content("slots", "");
  EXPECT_EQ(open_again(*started, table), EILSEQ);
}

TEST(SlotTable, ATableWithoutAFreeSlotEndsTheSearch) {
  MemoryFiles files;
  const auto table = table_of(files);
  std::string full = files.content("slots");
  for (std::size_t at = kFirstSlot; at < full.size(); ++at) full[at] = static_cast<char>(0xff);
  files.set_content("slots", full);
  const auto found = table->find(slot_of(3).key());
  EXPECT_FALSE(found.slot);
  std::optional<std::uint64_t> index;
  EXPECT_EQ(table->insert(slot_of(3), index), 0) << "what is no slot is overwritten";
}

}  // namespace
}  // namespace paddle::samplefs
