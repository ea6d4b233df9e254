// SPDX-License-Identifier: Apache-2.0
//
// From generation to generation: several sources, removals, jobs that are run again, and what
// becomes of keys and blocks meanwhile.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/scratch.h"
#include "engine/samplefs/node/node_engine.h"
#include "samplefs/store/store_reader.h"
#include "source/fake/fake_s3.h"

namespace paddle::engine::samplefs {
namespace {

namespace fs = std::filesystem;

void tell_nobody(const Progress&) {}

class GenerationsTest : public testing::Test {
 protected:
  GenerationsTest() {
    log::set_level(log::Level::kError);
    fs::create_directory(directory_ + "/cache");
    options_ = {.source = {.uri = "file://" + directory_ + "/source"},
                .cache = directory_ + "/cache",
                .cache_mib = 10,
                .keys = memory_};
    for (const char* path : {"train/1", "train/2", "val/1"}) put(path, path);
    open();
  }
  ~GenerationsTest() override {
    engine_.reset();
    log::set_level(log::Level::kInfo);
  }
  void put(const std::string& path, const std::string& bytes) {
    const fs::path file = directory_ + "/source/" + path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << bytes;
  }
  // As after a kill: what is on disk is all there is.
  void open() {
    engine_.reset();
    auto engine = SamplefsNodeEngine::open(options_, metrics_);
    ASSERT_TRUE(engine) << engine.error().message;
    engine_ = *std::move(engine);
  }
  void sync(const SyncTask& task = {}) {
    const auto done = engine_->sync(task, tell_nobody, {});
    ASSERT_TRUE(done) << done.error().message;
  }
  void remove(const std::string& path, const std::string& job) {
    const auto done = engine_->remove({.paths = {path}, .job = job}, tell_nobody, {});
    ASSERT_TRUE(done) << done.error().message;
  }
  void warm_up() {
    const auto done = engine_->warm_up({}, tell_nobody, {});
    ASSERT_TRUE(done) << done.error().message;
  }
  static std::uint64_t data_limit() { return ::paddle::samplefs::kMaxFileSize; }
  std::int64_t generation() { return engine_->status().index->generation; }
  std::int64_t files() { return engine_->status().index->files; }
  std::vector<fs::path> key_files() const {
    std::vector<fs::path> found;
    std::error_code none;
    for (const auto& each : fs::directory_iterator(memory_, none)) {
      found.push_back(each.path());
    }
    return found;
  }
  std::uint64_t blocks() const {
    return ::paddle::samplefs::StoreReader({directory_ + "/cache/store"}).count();
  }

  const Scratch scratch_{};
  const Scratch memory_scratch_{"/dev/shm"};
  const std::string memory_ = memory_scratch_.path();
  const std::string directory_ = scratch_.path();
  NodeOptions options_;
  Metrics metrics_;
  std::unique_ptr<SamplefsNodeEngine> engine_;
};

TEST_F(GenerationsTest, LeftOutObjectsAreKeptByOriginAfterRemovalsAndRestarts) {
  ASSERT_EQ(::mkfifo((directory_ + "/source/pipe").c_str(), 0600), 0);
  Progress last;
  const auto listen = [&](const Progress& now) { last = now; };
  ASSERT_TRUE(engine_->sync({.job = "one"}, listen, {}));
  const LeftOut pipe{.count = 1, .examples = {"'pipe' (no regular file)"}};
  EXPECT_EQ(last.left_out, pipe);
  EXPECT_EQ(engine_->status().index->left_out, pipe);
  remove("train", "rmr-1");
  open();
  EXPECT_EQ(engine_->status().index->left_out, pipe) << "a removal and a restart later";
  ASSERT_TRUE(engine_->sync({.job = "one"}, listen, {}));
  EXPECT_EQ(last.left_out, pipe) << "of a sync that had its effect before";

  source::FakeS3 s3({.access_key = "me", .secret_key = "canary-7"});
  s3.put("more/a", "from s3");
  s3.put("more//b", "a name that is no path");
  s3.put_as_if("more/huge", std::uint64_t{1} << 50);
  const SyncTask second{
      .source = "s3://bucket/more",
      .destination = "extra",
      .job = "two",
      .keys = {{{"access-key", "me"}, {"secret-key", "canary-7"}, {"endpoint", s3.url()}}}};
  ASSERT_TRUE(engine_->sync(second, listen, {}));
  EXPECT_EQ(
      last.left_out,
      (LeftOut{.count = 2, .examples = {"'huge' (larger than 50 TiB)", "'/b' (an empty part)"}}));
  EXPECT_EQ(engine_->status().index->left_out.count, 3) << "of both sources";
  fs::remove(directory_ + "/source/pipe");
  sync({.job = "three"});
  EXPECT_EQ(engine_->status().index->left_out.count, 2) << "its own source has nothing any more";
  remove("extra", "rmr-2");
  EXPECT_EQ(engine_->status().index->left_out, LeftOut{});
}

// The peak of what this process has had in memory, in KiB.
std::int64_t peak_memory() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6));
  }
  return 0;
}

TEST_F(GenerationsTest, ImpossibleSizesInAListingCostNothing) {
  source::FakeS3 s3({.access_key = "me", .secret_key = "canary-7"});
  s3.put("good", "bytes");
  for (int i = 0; i < 5; ++i) {
    s3.put_as_if("impossible/" + std::to_string(i), std::uint64_t{1} << 50);
  }
  // What may be: 100 TiB in two files, 26 million blocks.
  for (int i = 0; i < 2; ++i) s3.put_as_if("large/" + std::to_string(i), data_limit());
  const std::int64_t before = peak_memory();
  SyncTask task{
      .source = "s3://bucket",
      .job = "huge",
      .keys = {{{"access-key", "me"}, {"secret-key", "canary-7"}, {"endpoint", s3.url()}}}};
  sync(task);
  ASSERT_TRUE(engine_->warm_up({.paths = {"good"}}, tell_nobody, {}));
  task.job = "again";
  sync(task);
  EXPECT_EQ(engine_->status().cached_files, 1) << "what is cached is still needed";
  EXPECT_EQ(engine_->status().index->left_out.count, 5);
  EXPECT_EQ(engine_->status().index->left_out.examples.front(),
            "'impossible/0' (larger than 50 TiB)");
  EXPECT_EQ(engine_->status().index->files, 3);
  ASSERT_TRUE(engine_->clear({.paths = {"large"}}, tell_nobody, {}));
  EXPECT_EQ(engine_->status().cached_files, 1);
  EXPECT_LT(peak_memory() - before, 64 * 1024) << "KiB";
}

TEST_F(GenerationsTest, ARemovalFreesItsBlocksAndALaterSyncBringsTheFilesAgain) {
  sync();
  warm_up();
  EXPECT_EQ(blocks(), 3u);
  remove("/train", "rmr-1");
  EXPECT_EQ(generation(), 2);
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(blocks(), 1u);
  EXPECT_EQ(engine_->status().index->synced, 1) << "no sync: nothing is to be warmed up";
  sync({.job = "sync-2"});
  EXPECT_EQ(files(), 3);
  EXPECT_EQ(engine_->status().index->synced, 3);
  EXPECT_EQ(engine_->status().cached_files, 1);
}

TEST_F(GenerationsTest, AJobThatIsRunAgainChangesNothing) {
  sync({.job = "sync-1"});
  remove("train", "rmr-1");
  sync({.job = "sync-2"});
  const auto before = generation();
  open();
  remove("train", "rmr-1");
  EXPECT_EQ(files(), 3) << "a removal that is run again hides nothing that a later sync brought";
  put("new", "new");
  sync({.job = "sync-1"});
  sync({.job = "sync-2"});
  EXPECT_EQ(generation(), before);
  EXPECT_EQ(files(), 3);
  sync({.job = "sync-3"});
  EXPECT_EQ(files(), 4);
}

TEST_F(GenerationsTest, ARemovalOfTheRootOrOutsideIsRefused) {
  put("*", "star");
  sync();
  EXPECT_TRUE(engine_->remove({.paths = {"nothing"}}, tell_nobody, {}).is(Code::kNotFound));
  EXPECT_TRUE(engine_->remove({.paths = {"nothing"}, .again = true}, tell_nobody, {}));
  for (const char* path : {"..", "/", "train/../val", ""}) {
    EXPECT_TRUE(engine_->remove({.paths = {path}}, tell_nobody, {}).is(Code::kInvalid)) << path;
  }
  EXPECT_TRUE(engine_->remove({}, tell_nobody, {}).is(Code::kInvalid));
  EXPECT_EQ(generation(), 1);
  remove("*", "star");
  EXPECT_EQ(files(), 3);
}

TEST_F(GenerationsTest, ADryRunAndAStoppedOneChangeNothing) {
  sync();
  put("new", "new");
  Progress last;
  ASSERT_TRUE(engine_->sync({.dry = true}, [&](const Progress& now) { last = now; }, {}));
  EXPECT_EQ(last.files_total, 4);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(engine_->sync({}, tell_nobody, stop.get_token()).is(Code::kCancelled));
  EXPECT_TRUE(
      engine_->remove({.paths = {"train"}}, tell_nobody, stop.get_token()).is(Code::kCancelled));
  EXPECT_EQ(generation(), 1);
}

TEST_F(GenerationsTest, ASecondSourceIsReadWithItsOwnKeysAlsoAfterARestart) {
  source::FakeS3 s3({.access_key = "me", .secret_key = "canary-7"});
  s3.put("more/a", "from s3");
  s3.put("more/sub/b", "as well");
  sync();
  const SyncTask task{
      .source = "s3://bucket/more",
      .destination = "extra",
      .job = "second",
      .keys = {{{"access-key", "me"}, {"secret-key", "canary-7"}, {"endpoint", s3.url()}}}};
  sync(task);
  EXPECT_EQ(files(), 5);
  ASSERT_EQ(key_files().size(), 1u);
  struct stat seen {};
  ASSERT_EQ(::stat(key_files()[0].c_str(), &seen), 0);
  EXPECT_EQ(seen.st_mode & 0777, 0600u);
  for (const auto& each : fs::recursive_directory_iterator(directory_ + "/cache")) {
    if (!each.is_regular_file()) continue;
    std::ifstream in(each.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(text.find("canary-7"), std::string::npos) << each.path();
  }

  open();
  warm_up();
  EXPECT_EQ(engine_->status().cached_files, 5);
  remove("extra/a", "rmr-1");
  EXPECT_EQ(key_files().size(), 1u) << "sub/b is still of that source";
  remove("extra", "rmr-2");
  sync();
  EXPECT_TRUE(key_files().empty());
}

TEST_F(GenerationsTest, KeysThatAnEarlierVersionLeftOnTheDiskAreRemoved) {
  fs::create_directory(directory_ + "/cache/keys");
  std::ofstream(directory_ + "/cache/keys/0000000000000001") << "secret-key 8\ncanary-7\n";
  open();
  EXPECT_FALSE(fs::exists(directory_ + "/cache/keys"));
}

TEST_F(GenerationsTest, RefusedKeysChangeNothingAndAreNotLogged) {
  source::FakeS3 s3({.access_key = "me", .secret_key = "right"});
  sync();
  const auto refused = engine_->sync(
      {.source = "s3://bucket",
       .destination = "extra",
       .keys = {{{"access-key", "me"}, {"secret-key", "canary-8"}, {"endpoint", s3.url()}}}},
      tell_nobody, {});
  ASSERT_TRUE(refused.is(Code::kForbidden)) << refused.error().message;
  EXPECT_EQ(refused.error().message.find("canary-8"), std::string::npos);
  EXPECT_EQ(generation(), 1);
  EXPECT_TRUE(key_files().empty());
}

TEST_F(GenerationsTest, OldVersionsStayInTheCacheUntilTheRoomIsNeeded) {
  put("train/1", std::string(4 << 20, 'a'));
  sync();
  warm_up();
  const auto before = blocks();
  put("train/1", std::string(4 << 20, 'b'));
  sync();
  EXPECT_EQ(blocks(), before) << "it may be open, and the source has it no longer";
  put("train/2", std::string(5 << 20, 'c'));
  sync();
  warm_up();
  EXPECT_EQ(engine_->status().cached_files, 3) << "10 MiB are enough for what there is now";
}

TEST_F(GenerationsTest, AListOfPathsIsWarmedUp) {
  put("list", "/train/2\n\nval\n");
  sync();
  ASSERT_TRUE(engine_->warm_up({.file = "list"}, tell_nobody, {}));
  EXPECT_EQ(engine_->status().cached_files, 3) << "two, and the list itself";
  EXPECT_TRUE(engine_->warm_up({.file = "none"}, tell_nobody, {}).is(Code::kNotFound));
  put("list", "train/9\n");
  sync();
  EXPECT_TRUE(engine_->warm_up({.file = "list"}, tell_nobody, {}).is(Code::kNotFound));
}

}  // namespace
}  // namespace paddle::engine::samplefs
