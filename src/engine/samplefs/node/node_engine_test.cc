// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/node_engine.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "base/log.h"
#include "base/scratch.h"
#include "sealed/offer/offer.h"

namespace paddle::engine::samplefs {
namespace {

void ignore(const Progress&) {}

class SamplefsNodeEngineTest : public testing::Test {
 protected:
  SamplefsNodeEngineTest() {
    log::set_level(log::Level::kError);
    std::filesystem::create_directories(directory_ + "/source/class");
    std::filesystem::create_directory(directory_ + "/cache");
    options_ = {.source = {.uri = "file://" + directory_ + "/source"},
                .cache = directory_ + "/cache",
                .cache_mib = 10};
    for (int i = 0; i < 10; ++i) put("class/" + std::to_string(i), std::string(1000, 'x'));
  }
  ~SamplefsNodeEngineTest() override {
    engine_.reset();
    log::set_level(log::Level::kInfo);
  }
  void put(const std::string& path, const std::string& bytes) {
    std::ofstream(directory_ + "/source/" + path) << bytes;
  }
  void open() {
    engine_.reset();
    auto engine = SamplefsNodeEngine::open(options_, metrics_);
    ASSERT_TRUE(engine) << engine.error().message;
    engine_ = *std::move(engine);
  }
  void sync() {
    const auto done = engine_->sync({}, ignore, {});
    ASSERT_TRUE(done) << done.error().message;
  }

  const Scratch scratch_{};
  const std::string directory_ = scratch_.path();
  NodeOptions options_;
  Metrics metrics_;
  std::unique_ptr<SamplefsNodeEngine> engine_;
};

TEST_F(SamplefsNodeEngineTest, IsEmptyWithoutAnErrorBeforeTheFirstSync) {
  open();
  EXPECT_FALSE(engine_->status().index);
  EXPECT_EQ(engine_->status().limit, 10 << 20);
  EXPECT_GT(engine_->status().disk_size, 0);
  EXPECT_TRUE(engine_->warm_up({}, ignore, {}).is(Code::kConflict));
}

TEST_F(SamplefsNodeEngineTest, SyncsWarmsUpAndRestartsWithoutTheSource) {
  open();
  sync();
  EXPECT_EQ(engine_->status().index->files, 10);
  EXPECT_EQ(engine_->status().index->generation, 1);
  EXPECT_EQ(engine_->status().cached_bytes, 0);

  Progress last;
  ASSERT_TRUE(engine_->warm_up({.partition = 1, .partitions = 2},
                               [&](const Progress& progress) { last = progress; }, {}));
  EXPECT_EQ(last.files_done, 5);
  EXPECT_EQ(engine_->status().cached_files, 5);
  ASSERT_TRUE(engine_->warm_up({}, ignore, {}));
  EXPECT_EQ(engine_->status().cached_bytes, 10'000);
  const auto digest = engine_->status().index->digest;

  std::filesystem::remove_all(directory_ + "/source");
  open();
  EXPECT_EQ(engine_->status().index->digest, digest);
  EXPECT_EQ(engine_->status().cached_files, 10);
  const auto failed = engine_->sync({}, ignore, {});
  ASSERT_TRUE(failed.is(Code::kNotFound)) << failed.error().message;
  EXPECT_EQ(engine_->status().index->generation, 1) << "a failed sync changes nothing";
}

TEST_F(SamplefsNodeEngineTest, ASecondSyncKeepsUnchangedFilesAndWithDeleteDropsTheRest) {
  open();
  sync();
  ASSERT_TRUE(engine_->warm_up({}, ignore, {}));
  std::filesystem::remove(directory_ + "/source/class/0");
  put("class/new", "new");
  sync();
  EXPECT_EQ(engine_->status().index->generation, 2);
  EXPECT_EQ(engine_->status().index->files, 11) << "nothing is removed unasked";
  EXPECT_EQ(engine_->status().cached_files, 10);
  ASSERT_TRUE(engine_->sync({.delete_destination = true}, ignore, {}));
  EXPECT_EQ(engine_->status().index->files, 10);
  EXPECT_EQ(engine_->status().cached_files, 9);
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/cache/index.1"));
  EXPECT_TRUE(std::filesystem::exists(directory_ + "/cache/index.2")) << "for open files";
  open();
  EXPECT_EQ(engine_->status().index->generation, 3);
}

TEST_F(SamplefsNodeEngineTest, ClearDropsAllOrPartsOfTheCacheAndNothingOfTheSet) {
  open();
  put("other", "1");
  sync();
  ASSERT_TRUE(engine_->warm_up({}, ignore, {}));
  ASSERT_TRUE(engine_->clear({.paths = {"class"}}, ignore, {}));
  EXPECT_EQ(engine_->status().cached_files, 1);
  ASSERT_TRUE(engine_->clear({}, ignore, {}));
  EXPECT_EQ(engine_->status().cached_files, 0);
  EXPECT_EQ(engine_->status().index->files, 11);
}

// The other side of the session directory: what a node writes, and what it finds.
class OfferingEngineTest : public SamplefsNodeEngineTest {
 protected:
  OfferingEngineTest() {
    options_.session = directory_ + "/session";
    std::filesystem::create_directory(options_.session);
  }
  std::optional<sealed::Offer> offer() const {
    std::ifstream file(options_.session + "/" + sealed::kOfferFile);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const auto read = sealed::offer_from_text(text);
    return read ? std::optional(*read) : std::nullopt;
  }
  bool is_offered(bool wanted) const {
    for (int i = 0; i < 1000 && offer().has_value() != wanted; ++i) {
      system_clock().sleep(std::chrono::milliseconds{10}, {});
    }
    return offer().has_value() == wanted;
  }
  void write_view(const sealed::ViewState& state) const {
    const std::string file = options_.session + "/" + sealed::kViewFile;
    std::ofstream(file + ".tmp") << to_text(state);
    std::filesystem::rename(file + ".tmp", file);
  }
  // A node that shows a view of what is offered, and of nothing else.
  std::jthread node() {
    return std::jthread([this](const std::stop_token& stop) {
      while (system_clock().sleep(std::chrono::milliseconds{5}, stop)) {
        const auto found = offer();
        write_view({.sealed = found.has_value(), .number = found ? found->number : 0});
      }
    });
  }
};

TEST_F(OfferingEngineTest, AGenerationIsOfferedOnlyWhileAllOfItIsCached) {
  open();
  sync();
  ASSERT_TRUE(engine_->warm_up({.partition = 1, .partitions = 2}, ignore, {}));
  EXPECT_FALSE(offer());

  ASSERT_TRUE(engine_->warm_up({}, ignore, {}));
  ASSERT_TRUE(is_offered(true));
  const sealed::Offer first = *offer();
  EXPECT_EQ(first.generation, 1u);
  EXPECT_EQ(first.digest, engine_->status().index->digest);
  EXPECT_EQ(first.index, "index.1");
  EXPECT_EQ(first.tiers.size(), 1u);
  open();
  system_clock().sleep(std::chrono::milliseconds{700}, {});
  EXPECT_EQ(offer(), first) << "the next process leaves it as it is";
}

TEST_F(OfferingEngineTest, WhatChangesTheSetOrDropsBlocksWithdrawsTheOfferAndWaitsForTheNode) {
  open();
  sync();
  ASSERT_TRUE(engine_->warm_up({}, ignore, {}));
  ASSERT_TRUE(is_offered(true));
  const std::uint64_t first = offer()->number;
  const auto follows = node();
  const auto shown = [&] {
    std::ifstream file(options_.session + "/" + sealed::kViewFile);
    std::string text(std::istreambuf_iterator<char>(file), {});
    const auto state = sealed::view_state_from_text(text);
    return state && state->sealed ? state->number : 0;
  };
  for (int i = 0; i < 1000 && shown() != first; ++i) {
    system_clock().sleep(std::chrono::milliseconds{10}, {});
  }
  ASSERT_EQ(shown(), first);

  ASSERT_TRUE(engine_->clear({.paths = {"class/1"}}, ignore, {}));
  EXPECT_EQ(shown(), 0u) << "clear returns when no view is shown";
  EXPECT_FALSE(offer());
  ASSERT_TRUE(engine_->warm_up({}, ignore, {}));
  ASSERT_TRUE(is_offered(true));
  EXPECT_GT(offer()->number, first) << "the same generation, but not the same offer";
  for (int i = 0; i < 1000 && shown() == 0; ++i) {
    system_clock().sleep(std::chrono::milliseconds{10}, {});
  }

  put("class/new", "new");
  sync();
  EXPECT_EQ(shown(), 0u) << "a sync, too";
  EXPECT_FALSE(offer()) << "the new file is not cached";
  ASSERT_TRUE(engine_->warm_up({}, ignore, {}));
  ASSERT_TRUE(is_offered(true));
  EXPECT_EQ(offer()->generation, 2u);
  ASSERT_TRUE(engine_->remove({.paths = {"class/2"}, .job = "rm"}, ignore, {}));
  ASSERT_TRUE(is_offered(true)) << "the rest is cached";
  EXPECT_EQ(offer()->generation, 3u);
}

TEST_F(SamplefsNodeEngineTest, AWarmUpFailsForAFailedFileButNotForAFullCache) {
  options_.cache_mib = 1;
  for (int i = 0; i < 4; ++i) put("big" + std::to_string(i), std::string(400'000, 'b'));
  open();
  sync();
  Progress last;
  const auto keep = [&](const Progress& progress) { last = progress; };
  ASSERT_TRUE(engine_->warm_up({}, keep, {}));
  EXPECT_GT(last.files_no_room, 0);
  EXPECT_EQ(last.files_failed, 0);

  ASSERT_TRUE(engine_->clear({}, ignore, {}));
  std::filesystem::remove(directory_ + "/source/class/3");
  const auto failed = engine_->warm_up({.paths = {"class"}}, keep, {});
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("1 of 10 files"), std::string::npos)
      << failed.error().message;
  EXPECT_EQ(last.files_done, 9);
}

TEST_F(SamplefsNodeEngineTest, OneCacheHasOneOwner) {
  open();
  EXPECT_TRUE(SamplefsNodeEngine::open(options_, metrics_).is(Code::kConflict));
  options_.cache = "/no/such";
  EXPECT_TRUE(SamplefsNodeEngine::open(options_, metrics_).is(Code::kUnavailable));
}

TEST_F(SamplefsNodeEngineTest, ADamagedIndexIsReportedAndThePreviousOneServesUntilTheNextSync) {
  open();
  sync();
  sync();
  EXPECT_EQ(engine_->status().remark, "");
  engine_.reset();
  std::filesystem::resize_file(directory_ + "/cache/index.2", 100);
  for (int restart = 0; restart < 2; ++restart) {
    open();
    EXPECT_EQ(engine_->status().index->generation, 1);
    const std::string remark = engine_->status().remark;
    EXPECT_NE(remark.find("generation 2 cannot be used"), std::string::npos) << remark;
    EXPECT_NE(remark.find("generation 1 is shown"), std::string::npos) << remark;
  }
  sync();
  EXPECT_EQ(engine_->status().index->generation, 3) << "a number names one content";
  EXPECT_EQ(engine_->status().index->synced, 3);
  EXPECT_EQ(engine_->status().remark, "");
  open();
  EXPECT_EQ(engine_->status().index->generation, 3);
  EXPECT_EQ(engine_->status().remark, "");
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/cache/index.2"));
}

// Opening reads only the header, so this is found later.
TEST_F(SamplefsNodeEngineTest, DamageWithinAnIndexIsReportedAndNothingIsDerivedFromIt) {
  for (int i = 0; i < 2000; ++i) put("class/many-" + std::to_string(i), "x");
  open();
  sync();
  engine_.reset();
  const std::string file = directory_ + "/cache/index.1";
  const auto size = std::filesystem::file_size(file);
  ASSERT_GT(size, 2 * ::paddle::samplefs::kIndexChunkSize);
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary)
      .seekp(static_cast<std::streamoff>(size) - 20'000)
      .write("damage", 6);
  open();
  while (engine_->status().remark.empty()) std::this_thread::yield();
  EXPECT_NE(engine_->status().remark.find("generation 1 is damaged"), std::string::npos);
  const auto removed = engine_->remove({.paths = {"class"}, .job = "rmr"}, ignore, {});
  ASSERT_FALSE(removed) << "it would lose names";
  EXPECT_TRUE(removed.is(Code::kConflict)) << removed.error().message;
  sync();
  EXPECT_EQ(engine_->status().index->generation, 2);
  EXPECT_EQ(engine_->status().index->files, 2010);
  EXPECT_EQ(engine_->status().remark, "");
}

TEST_F(SamplefsNodeEngineTest, AStoppedJobEndsAsCancelled) {
  open();
  sync();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(engine_->warm_up({}, ignore, stop.get_token()).is(Code::kCancelled));
  EXPECT_TRUE(engine_->sync({}, ignore, stop.get_token()).is(Code::kCancelled));
}

TEST_F(SamplefsNodeEngineTest, DamagedBlocksAreFetchedAgainAndReported) {
  open();
  sync();
  ASSERT_TRUE(engine_->warm_up({}, ignore, {}));
  EXPECT_EQ(engine_->status().cached_files, 10);
  EXPECT_EQ(engine_->status().remark, "");
  const std::string segment = directory_ + "/cache/store/segment.1";
  std::filesystem::resize_file(segment, 0);
  // Reads that file of the set, which holds no path of it.
  (void)engine_->warm_up({.file = "class/3"}, ignore, {});
  EXPECT_NE(engine_->status().remark.find("damaged blocks of the cache: "), std::string::npos)
      << engine_->status().remark;
  ASSERT_TRUE(engine_->warm_up({}, ignore, {}));
}

TEST_F(SamplefsNodeEngineTest, TiersAreFilledInTheirOrderAndStateIsWhereItIsTold) {
  for (const char* name : {"/second", "/state"}) {
    std::filesystem::create_directory(directory_ + name);
  }
  for (int i = 0; i < 5; ++i) put("big" + std::to_string(i), std::string(400'000, 'b'));
  options_.cache_mib = 1;
  options_.next_tiers = {{.path = directory_ + "/second", .mib = 9}};
  options_.state = directory_ + "/state";
  open();
  sync();
  Progress last;
  ASSERT_TRUE(engine_->warm_up({}, [&](const Progress& progress) { last = progress; }, {}));
  EXPECT_EQ(last.files_no_room, 0);
  EXPECT_EQ(engine_->status().cached_files, 15);
  EXPECT_EQ(engine_->status().limit, 10 << 20);
  EXPECT_TRUE(std::filesystem::exists(directory_ + "/cache/store/segment.1"));
  EXPECT_TRUE(std::filesystem::exists(directory_ + "/second/store/segment.1"));
  EXPECT_TRUE(std::filesystem::exists(directory_ + "/state/index.1"));
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/cache/index.1"));
  std::filesystem::remove_all(directory_ + "/source");
  open();
  EXPECT_EQ(engine_->status().cached_files, 15);
}

TEST_F(SamplefsNodeEngineTest, ACacheOfAnEarlierVersionIsDroppedAndReported) {
  std::filesystem::create_directories(directory_ + "/cache/store/blocks.1/ab");
  open();
  EXPECT_NE(engine_->status().remark.find("earlier version"), std::string::npos);
  sync();
  ASSERT_TRUE(engine_->warm_up({}, ignore, {}));
  EXPECT_EQ(engine_->status().cached_files, 10);
}

TEST_F(SamplefsNodeEngineTest, AnyNumberOfThreadsIsCutToWhatAMachineStarts) {
  open();
  sync();
  ASSERT_TRUE(engine_->warm_up({.threads = 2'000'000'000}, ignore, {}));
  EXPECT_EQ(engine_->status().cached_files, 10);
}

constexpr std::uint64_t kMiB = 1 << 20;

TEST(CacheLimit, IsTheRequestedSizeWhenTheDiskHasIt) {
  const CacheLimit limit =
      cache_limit(100, {.size = 1000 * kMiB, .avail = 50 * kMiB, .cached = 50 * kMiB});
  EXPECT_EQ(limit.bytes, 100 * kMiB);
  EXPECT_EQ(limit.notice, "");
}

TEST(CacheLimit, IsClippedToTheDiskWithANotice) {
  const CacheLimit limit =
      cache_limit(101, {.size = 1000 * kMiB, .avail = 50 * kMiB, .cached = 50 * kMiB});
  EXPECT_EQ(limit.bytes, 100 * kMiB);
  EXPECT_NE(limit.notice.find("100 MiB only, not of 101 MiB"), std::string::npos) << limit.notice;
  EXPECT_EQ(cache_limit(UINT64_MAX, {.size = kMiB, .avail = kMiB}).bytes, kMiB);
}

TEST(CacheLimit, WithoutARequestLeavesATenthOfTheSpace) {
  const CacheLimit limit =
      cache_limit(0, {.size = 1000 * kMiB, .avail = 60 * kMiB, .cached = 40 * kMiB});
  EXPECT_EQ(limit.bytes, 90 * kMiB);
  EXPECT_EQ(cache_limit(0, {}).bytes, 0u);
}

}  // namespace
}  // namespace paddle::engine::samplefs
