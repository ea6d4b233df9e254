// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/node/verification.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/log.h"
#include "base/scratch.h"
#include "engine/samplefs/node/node_engine.h"

namespace paddle::engine::samplefs {
namespace {

using Problems = std::vector<api::FoundProblem>;

// A set of the files a, b, c, d of a directory, all cached.
class VerificationTest : public testing::Test {
 protected:
  VerificationTest() {
    log::set_level(log::Level::kError);
    std::filesystem::create_directories(source_);
    std::filesystem::create_directory(directory_ + "/cache");
    for (const char* path : {"a", "b", "c", "d"}) put(path, path);
    open();
    EXPECT_TRUE(engine_->sync({.job = "sync"}, ignored(), {}));
    EXPECT_TRUE(engine_->warm_up({}, ignored(), {}));
  }
  ~VerificationTest() override {
    engine_.reset();
    log::set_level(log::Level::kInfo);
  }
  static ProgressSink ignored() {
    return [](const Progress&) {};
  }
  void open() {
    engine_.reset();
    auto engine = SamplefsNodeEngine::open(
        {.source = {.uri = "file://" + source_}, .cache = directory_ + "/cache", .cache_mib = 10},
        metrics_);
    ASSERT_TRUE(engine) << engine.error().message;
    engine_ = *std::move(engine);
  }
  void put(const std::string& path, const std::string& bytes) {
    std::ofstream(source_ + "/" + path + ".new") << bytes;
    std::filesystem::rename(source_ + "/" + path + ".new", source_ + "/" + path);
  }
  Result<> verify(const Selection& which = {}) {
    last_ = {};
    return engine_->run({.kind = api::JobKind::kVerify, .which = which},
                        [&](const Progress& progress) { last_ = progress; }, {});
  }
  const api::Verification& found() const { return *last_.verification; }

  const Scratch scratch_{};
  const std::string directory_ = scratch_.path();
  const std::string source_ = directory_ + "/source";
  Metrics metrics_;
  std::unique_ptr<SamplefsNodeEngine> engine_;
  Progress last_{};
};

TEST_F(VerificationTest, ASoundCacheHasNoProblems) {
  ASSERT_TRUE(verify());
  EXPECT_EQ(found(), (api::Verification{.checked = 4}));
  EXPECT_EQ(last_.files_done, 4);
  EXPECT_EQ(last_.bytes_done, 4);
}

TEST_F(VerificationTest, ChangedAndDeletedObjectsAreStaleAndNewOnesAreNot) {
  put("b", "another");
  std::filesystem::remove(source_ + "/d");
  put("new", "new");
  ASSERT_TRUE(verify());
  EXPECT_EQ(found().stale, 2);
  EXPECT_EQ(found().missing, 0);
  EXPECT_EQ(found().first_problems,
            (Problems{{.path = "b", .problem = "stale"}, {.path = "d", .problem = "stale"}}));
  ASSERT_TRUE(verify({.paths = {"a", "b"}}));
  EXPECT_EQ(found().checked, 2);
  EXPECT_EQ(found().stale, 1);
  ASSERT_TRUE(engine_->sync({.delete_destination = true, .job = "again"}, ignored(), {}));
  ASSERT_TRUE(verify());
  EXPECT_EQ(found().stale, 0);
  EXPECT_EQ(found().missing, 2) << "b in its new version, and new";
}

TEST_F(VerificationTest, MissingFilesAreRepairedAndStaleOnesCannotBe) {
  ASSERT_TRUE(engine_->clear({.paths = {"a", "b"}}, ignored(), {}));
  ASSERT_TRUE(verify());
  EXPECT_EQ(found().missing, 2);
  EXPECT_EQ(engine_->status().cached_files, 2) << "nothing is fetched unasked";
  put("b", "another");
  const auto done = verify({.repair = true});
  ASSERT_TRUE(done.is(Code::kUnavailable));
  EXPECT_NE(done.error().message.find("1 of 4 files could not be checked or repaired"),
            std::string::npos)
      << done.error().message;
  EXPECT_NE(done.error().message.find("a sync updates changed files"), std::string::npos);
  EXPECT_EQ(found().missing, 2);
  EXPECT_EQ(found().repaired, 1);
  EXPECT_EQ(found().first_problems,
            (Problems{{.path = "b", .problem = "stale"},
                      {.path = "a", .problem = "missing", .repaired = true}}));
  EXPECT_EQ(engine_->status().cached_files, 3);
}

TEST_F(VerificationTest, ARuntimeMissesOnlyWhatIsInItsPart) {
  ASSERT_TRUE(engine_->clear({}, ignored(), {}));
  ASSERT_TRUE(engine_->warm_up({.partition = 0, .partitions = 2}, ignored(), {}));
  ASSERT_TRUE(verify({.partition = 0, .partitions = 2}));
  EXPECT_EQ(found(), (api::Verification{.checked = 2}));
  ASSERT_TRUE(verify({.partition = 1, .partitions = 2}));
  EXPECT_EQ(found().checked, 4);
  EXPECT_EQ(found().missing, 2);
}

TEST_F(VerificationTest, WithoutTheSourceTheCacheIsCheckedAndTheJobFails) {
  std::filesystem::remove_all(source_);
  const auto done = verify();
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("the cache was checked, but it is not known what is stale"),
            std::string::npos)
      << done.error().message;
  EXPECT_EQ(found().checked, 4);
  EXPECT_EQ(found().stale, 0);
}

TEST_F(VerificationTest, BeforeTheFirstSyncThereIsNothingToVerify) {
  engine_.reset();
  std::filesystem::remove_all(directory_ + "/cache");
  std::filesystem::create_directory(directory_ + "/cache");
  open();
  EXPECT_TRUE(verify().is(Code::kConflict));
  EXPECT_FALSE(last_.verification);
}

TEST_F(VerificationTest, HostileNamesAreShownShortAndPrintable) {
  put("line\nbreak", "x");
  put(std::string(200, 'n'), "x");
  ASSERT_TRUE(engine_->sync({.job = "again"}, ignored(), {}));
  ASSERT_TRUE(verify());
  EXPECT_EQ(found().first_problems,
            (Problems{{.path = "line\\x0abreak", .problem = "missing"},
                      {.path = std::string(200, 'n'), .problem = "missing"}}));
}

}  // namespace
}  // namespace paddle::engine::samplefs
