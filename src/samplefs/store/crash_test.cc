// SPDX-License-Identifier: Apache-2.0
//
// Power failures and kills at every write of a store. Afterwards no wrong byte is served, and what
// was synced is served.
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "base/log.h"
#include "samplefs/store/memory_files.h"
#include "samplefs/store/tier.h"

namespace paddle::samplefs {
namespace {

class StoreCrashTest : public testing::Test {
 protected:
  StoreCrashTest() { log::set_level(log::Level::kError); }
  ~StoreCrashTest() override { log::set_level(log::Level::kInfo); }

  // Bytes of one version of a file; never the same for two.
  static std::string bytes_of(const std::string& path, std::size_t size) {
    std::string bytes(size, '\0');
    std::mt19937 random(static_cast<unsigned>(std::hash<std::string>()(path)));
    for (char& c : bytes) c = static_cast<char>(random());
    return bytes;
  }
  std::shared_ptr<Tier> open(FileLayer& files) const {
    auto tier = Tier::open({.directory = "cache", .limit = 8 << 20, .segment_bytes = 64 << 10},
                           files, clock_);
    EXPECT_TRUE(tier) << tier.error().message;
    return tier ? *tier : nullptr;
  }
  void put(Tier& tier, const std::string& path, std::size_t size) {
    const std::string bytes = bytes_of(path, size);
    const Block block = block_at(path, "v", size, 0);
    ASSERT_EQ(tier.put(block, std::as_bytes(std::span(bytes))), Tier::Put::kStored);
    truth_[path] = bytes;
  }
  // Blocks, syncs, drops, growth of the table, several segments, a second life of the process.
  void live(MemoryFiles& files) {
    std::mt19937 random(3);
    for (int life = 0; life < 2; ++life) {
      const auto tier = open(files);
      for (int i = 0; i < 60; ++i) {
        const std::string path = std::to_string(life) + "/" + std::to_string(i);
        put(*tier, path, i == 30 ? 300'000 : 1 + random() % 9000);
        if (i % 7 == 6) {
          ASSERT_EQ(tier->flush_table(), 0);
        }
        if (i % 11 == 10) {
          const std::string gone = std::to_string(life) + "/" + std::to_string(random() % 10);
          const BlockKey key = block_at(gone, "v", truth_[gone].size(), 0).key;
          tier->drop_all({&key, 1});
        }
        if (i % 13 == 12) tier->maintain();
      }
      ASSERT_EQ(tier->flush_table(), 0);
    }
  }
  // How many blocks are served. A wrong byte fails the test.
  std::size_t served(FileLayer& files, const std::string& when) {
    const auto tier = open(files);
    std::size_t count = 0;
    for (const auto& [path, bytes] : truth_) {
      std::string into(bytes.size(), '?');
      const Block block = block_at(path, "v", bytes.size(), 0);
      if (!tier->read(block, 0, std::as_writable_bytes(std::span(into)))) continue;
      EXPECT_TRUE(into == bytes) << "wrong bytes of " << path << " " << when;
      ++count;
    }
    // It goes on: new blocks never damage those that are there.
    const std::string more = bytes_of("more", 5000);
    const Block block = block_at("more", "v", 5000, 0);
    EXPECT_EQ(tier->put(block, std::as_bytes(std::span(more))), Tier::Put::kStored) << when;
    StoreStats stats;
    tier->add_stats(stats);
    damaged_ += stats.damaged;
    return count;
  }

  ManualClock clock_;
  std::map<std::string, std::string> truth_;
  std::uint64_t damaged_ = 0;
};

TEST_F(StoreCrashTest, APowerFailureAfterAnyWriteLeavesNoWrongByte) {
  MemoryFiles files;
  live(files);
  std::mt19937 random(9);
  std::size_t most = 0;
  for (std::size_t step = 0; step <= files.steps(); ++step) {
    const auto none = [](const std::string&) { return 0.0; };
    const auto all = [](const std::string&) { return 1.0; };
    const auto some = [&](const std::string&) { return random() % 2 ? 1.0 : 0.0; };
    const auto torn = [&](const std::string&) { return static_cast<double>(random() % 100) / 100; };
    for (const MemoryFiles::Keep& keep : std::vector<MemoryFiles::Keep>{none, all, some, torn}) {
      const auto after = files.crash(step, keep);
      most = std::max(most, served(*after, "after step " + std::to_string(step)));
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(most, 80u);
}

TEST_F(StoreCrashTest, AKillAfterAnyWriteLosesNoBlockThatWasStored) {
  MemoryFiles files;
  live(files);
  std::size_t before = 0;
  for (std::size_t step = 0; step <= files.steps(); ++step) {
    const auto after = files.kill(step);
    const std::size_t count = served(*after, "after step " + std::to_string(step));
    EXPECT_GE(count + 1, before) << "only a drop makes it less, by one";
    before = count;
    if (HasFailure()) return;
  }
  EXPECT_GT(before, 80u);
  EXPECT_EQ(damaged_, 0u) << "a kill is no power failure";
}

TEST_F(StoreCrashTest, WhatWasSyncedSurvivesAPowerFailureWhole) {
  MemoryFiles files;
  {
    const auto tier = open(files);
    for (int i = 0; i < 100; ++i) put(*tier, std::to_string(i), 3000);
    ASSERT_EQ(tier->flush_table(), 0);
    for (int i = 100; i < 120; ++i) put(*tier, std::to_string(i), 3000);
  }
  const auto after = files.crash(files.steps(), [](const std::string&) { return 0.0; });
  EXPECT_EQ(served(*after, "at the end"), 100u);
  EXPECT_EQ(damaged_, 0u);
}

// The order that makes the promise: a slot that is valid after a power failure is written after its
// data was synced.
TEST_F(StoreCrashTest, NoSlotOutlivesItsDataEvenWhenTheDiskKeepsOnlySlots) {
  MemoryFiles files;
  live(files);
  for (std::size_t step = 0; step <= files.steps(); ++step) {
    const auto after = files.crash(step, [](const std::string& file) {
      return file.empty() || file.starts_with("slots") ? 1.0 : 0.0;
    });
    served(*after, "after step " + std::to_string(step));
    if (HasFailure()) return;
  }
  EXPECT_EQ(damaged_, 0u);
}

// The same with a disk that does not sync: slots without data are there, are found, and no byte of
// them is served.
TEST_F(StoreCrashTest, ADiskThatLiesAboutSyncsCausesDamageAndNoWrongByte) {
  MemoryFiles files;
  files.lie_about_syncs();
  live(files);
  for (std::size_t step = 0; step <= files.steps(); step += 5) {
    const auto after = files.crash(step, [](const std::string& file) {
      return file.empty() || file.starts_with("slots") ? 1.0 : 0.0;
    });
    served(*after, "after step " + std::to_string(step));
    if (HasFailure()) return;
  }
  EXPECT_GT(damaged_, 0u);
}

}  // namespace
}  // namespace paddle::samplefs
