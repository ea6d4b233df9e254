// SPDX-License-Identifier: Apache-2.0
//
// A sync that three runtimes share, with real components; a proxy counts what they fetch.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "test/juicefs/volume_fixture.h"

namespace paddle::test {
namespace {

using runtime::JobKind;
using runtime::JobState;

constexpr int kFiles = 300;
constexpr std::size_t kSize = 160'000;
constexpr std::int64_t kBytes = static_cast<std::int64_t>(kFiles * kSize);
constexpr int kParts = 3;

class SharedSyncTest : public VolumeTest {
 protected:
  void SetUp() override {
    VolumeTest::SetUp();
    put_source(kFiles, kSize);
    ASSERT_EQ(format(path("volume")).exit_code, 0);
    for (int i = 0; i < kParts; ++i) add_runtime();
  }

  runtime::JobRequest part(int number, const engine::SyncTask& task = {}) {
    runtime::JobRequest request{.kind = JobKind::kSync, .sync = task};
    request.sync.part = number;
    request.sync.parts = kParts;
    request.sync.lists_at = runtimes_[0]->address;
    return request;
  }
  void ask_all(const std::string& id, const engine::SyncTask& task = {}) {
    // The first one last: the others have to wait for it.
    for (int i = kParts; i-- > 0;) {
      const auto put = client(node(i)).put_job(id, part(i, task));
      ASSERT_TRUE(put) << put.error().message;
    }
  }
  std::vector<runtime::JobReport> all_end(const std::string& id) {
    std::vector<runtime::JobReport> reports;
    for (int i = 0; i < kParts; ++i) {
      reports.push_back(wait_for(node(i), id));
      EXPECT_EQ(reports.back().state, JobState::kSucceeded) << i << ": " << reports.back().error;
      EXPECT_EQ(reports.back().progress.cut, reports.front().progress.cut);
    }
    return reports;
  }
  Runtime& node(int number) { return *runtimes_[static_cast<std::size_t>(number)]; }
};

TEST_F(SharedSyncTest, EachRuntimeCopiesItsShareAndTogetherTheyCopyEverything) {
  const std::int64_t begun = proxy_->bytes();
  ask_all("sync-1");
  std::int64_t files = 0, bytes = 0;
  for (const auto& report : all_end("sync-1")) {
    EXPECT_GT(report.progress.bytes_done, kBytes * 30 / 100);
    EXPECT_LT(report.progress.bytes_done, kBytes * 37 / 100);
    EXPECT_EQ(report.progress.bytes_total, report.progress.bytes_done);
    files += report.progress.files_done;
    bytes += report.progress.bytes_done;
  }
  EXPECT_EQ(files, kFiles);
  EXPECT_EQ(bytes, kBytes);
  EXPECT_EQ(differences(node(1).mount, truth_), "");
  EXPECT_LT(proxy_->bytes() - begun, kBytes + kBytes / 20) << "fetched twice";
  // Only who asked for the parts knows that all are done.
  EXPECT_EQ(client(node(0)).status()->synced_by, "");
  runtime::JobRequest counts{.kind = JobKind::kSync};
  counts.sync.counts = true;
  EXPECT_EQ(run_job(node(0), "sync-1-all", counts).state, JobState::kSucceeded);
  EXPECT_EQ(client(node(0)).status()->synced_by, "sync-1-all");

  // Once more: nothing is left to do, and the source is only listed.
  const std::int64_t again = proxy_->bytes();
  ask_all("sync-2");
  for (const auto& report : all_end("sync-2")) EXPECT_EQ(report.progress.bytes_done, 0);
  EXPECT_LT(proxy_->bytes() - again, kBytes / 20);

  // Another file of the source and one that it does not have: both ends are right afterwards.
  ASSERT_TRUE(s3_.put("/bucket/train/new.jpg", "new"));
  truth_["new.jpg"] = "new";
  ASSERT_TRUE(write_file(node(2).mount + "/class0/extra.jpg", "extra"));
  ask_all("sync-3", {.delete_destination = true});
  all_end("sync-3");
  EXPECT_EQ(differences(node(1).mount, truth_), "");
}

TEST_F(SharedSyncTest, KilledRuntimesContinueTheirOwnPartsOnly) {
  for (const bool force : {false, true}) {
    const std::string id = force ? "sync-forced" : "sync-1";
    const std::int64_t begun = proxy_->bytes();
    ask_all(id, {.threads = 2, .megabits = 120, .force_update = force});
    for (int i = 0; i < kParts; ++i) {
      ASSERT_TRUE(eventually([&] { return proxy_->bytes() - begun > kBytes * (i + 1) / 5; }));
      kill_server(node(i));
      serve(node(i));
    }
    for (const auto& report : all_end(id)) EXPECT_GT(report.progress.bytes_done, 0);
    const std::int64_t fetched = proxy_->bytes() - begun;
    EXPECT_GE(fetched, kBytes);
    // A part of this size is one piece of a forced sync, so a kill may fetch a third of a part
    // more.
    EXPECT_LT(fetched, kBytes + (force ? kBytes : kBytes / 20)) << "fetched twice";
    EXPECT_EQ(differences(node(1).mount, truth_), "");
  }
}

TEST_F(SharedSyncTest, ARuntimeThatMovedGetsTheSamePartAgain) {
  const std::int64_t begun = proxy_->bytes();
  ask_all("sync-1", {.threads = 2, .megabits = 120});
  ASSERT_TRUE(eventually([&] { return proxy_->bytes() - begun > kBytes / 3; }));
  kill_server(node(1));
  std::filesystem::remove_all(node(1).directory + "/state");
  std::filesystem::create_directories(node(1).directory + "/state");
  serve(node(1));
  EXPECT_TRUE(client(node(1)).job("sync-1").is(Code::kNotFound));
  ASSERT_TRUE(client(node(1)).put_job("sync-1", part(1, {.threads = 2, .megabits = 120})));
  all_end("sync-1");
  EXPECT_LT(proxy_->bytes() - begun, kBytes + kBytes / 20) << "fetched twice";
  EXPECT_EQ(differences(node(0).mount, truth_), "");
}

TEST_F(SharedSyncTest, ARuntimeWithoutADivisionWaitsAndCanBeStopped) {
  ASSERT_TRUE(client(node(1)).put_job("sync-1", part(1)));
  ASSERT_TRUE(eventually([&] {
    const auto seen = client(node(1)).job("sync-1");
    return seen && seen->state == JobState::kRunning;
  }));
  ASSERT_TRUE(client(node(1)).cancel("sync-1"));
  EXPECT_EQ(wait_for(node(1), "sync-1").state, JobState::kCancelled);
}

// The state of the running `juicefs sync` in /proc/<pid>/stat; 'T': stopped.
char state_of_sync() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string argv = read_file(entry.path().string() + "/cmdline");
    if (argv.find("jfs://PADDLE_VOLUME/copy/") == argv.npos) continue;
    const std::string stat = read_file(entry.path().string() + "/stat");
    const std::size_t name = stat.rfind(')');
    if (name != stat.npos && name + 2 < stat.size()) return stat[name + 2];
  }
  return '-';
}

// Reads from the object store each time.
void read_uncached(const std::string& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  (void)::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED);
  std::vector<char> room(1 << 20);
  while (fd && ::read(fd.get(), room.data(), room.size()) > 0) {
  }
}

TEST_F(SharedSyncTest, ASyncIsSlowedDownWhileReadersMissTheCacheAndStillEnds) {
  ask_all("sync-1");
  all_end("sync-1");
  std::atomic<bool> reads = true;
  std::thread reader([&] {
    for (int pass = 0; reads; ++pass) {
      for (const auto& [name, bytes] : truth_) {
        if (reads) read_uncached(node(0).mount + "/" + name);
      }
      if (reads) (void)run_job(node(0), "clear-" + std::to_string(pass), {.kind = JobKind::kClear});
    }
  });
  runtime::JobRequest copy{.kind = JobKind::kSync};
  copy.sync.destination = "copy";
  copy.sync.megabits = 40;
  ASSERT_TRUE(client(node(0)).put_job("sync-2", copy));
  EXPECT_TRUE(eventually([] { return state_of_sync() == 'T'; }));
  reads = false;
  reader.join();
  EXPECT_EQ(wait_for(node(0), "sync-2").state, JobState::kSucceeded);
  EXPECT_EQ(differences(node(1).mount + "/copy", truth_), "");
}

TEST_F(SharedSyncTest, ALateRemovalLeavesNewerFiles) {
  ask_all("sync-1");
  all_end("sync-1");
  system_clock().sleep(std::chrono::milliseconds{2'100}, {});
  // So long ago that a difference of clocks is no reason to remove later files.
  const auto accepted = std::chrono::duration_cast<std::chrono::milliseconds>(
                            (system_clock().wall() - std::chrono::minutes{5}).time_since_epoch())
                            .count() -
                        1'000;
  // What a later sync brings has the source's time of writing, and is younger all the same.
  ASSERT_TRUE(s3_.put("/bucket/train/class0/deep/later.jpg", "later"));
  ask_all("sync-2");
  all_end("sync-2");
  runtime::JobRequest removal{.kind = JobKind::kRemove};
  removal.which.paths = {"class0", "class1"};
  removal.which.skip_trash = true;
  removal.which.accepted = accepted;
  const auto removed = run_job(node(1), "rmr-1", removal);
  ASSERT_EQ(removed.state, JobState::kSucceeded) << removed.error;
  std::erase_if(truth_, [](const auto& each) {
    return each.first.starts_with("class0/") || each.first.starts_with("class1/");
  });
  truth_["class0/deep/later.jpg"] = "later";
  EXPECT_EQ(differences(node(1).mount, truth_), "");
  EXPECT_FALSE(std::filesystem::exists(node(1).mount + "/class1"));
}

}  // namespace
}  // namespace paddle::test
