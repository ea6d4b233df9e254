// SPDX-License-Identifier: Apache-2.0
//
// The node engine of JuiceFS with real components: from an empty Redis to a cleared cache.
#include <filesystem>
#include <fstream>

#include "test/juicefs/bos_server.h"
#include "test/juicefs/volume_fixture.h"
#include "test/support/pki.h"

namespace paddle::test {
namespace {

using runtime::JobKind;
using runtime::JobState;

constexpr int kFiles = 210;
constexpr std::size_t kSize = 40'000;
constexpr std::int64_t kBytes = static_cast<std::int64_t>(kFiles * kSize);

runtime::JobRequest sync_job(std::int64_t megabits = 0) {
  runtime::JobRequest request{.kind = JobKind::kSync};
  request.sync.megabits = megabits;
  return request;
}

runtime::JobRequest warmup_job(int partition, int partitions, const std::string& lists_at = {}) {
  runtime::JobRequest request{.kind = JobKind::kWarmup};
  request.which.partition = partition;
  request.which.partitions = partitions;
  request.which.lists_at = lists_at;
  return request;
}

TEST_F(VolumeTest, IsFormattedSyncedWarmedUpClearedAndEmptied) {
  put_source(kFiles, kSize);
  Ran made = format(path("volume"));
  ASSERT_EQ(made.exit_code, 0) << made.out << made.err;
  made = format(path("volume"));  // as a pod that is started again does
  ASSERT_EQ(made.exit_code, 0) << made.err;

  Runtime& first = add_runtime();
  Runtime& second = add_runtime();
  const auto synced = run_job(first, "sync-1", sync_job());
  ASSERT_EQ(synced.state, JobState::kSucceeded) << synced.error;
  EXPECT_EQ(synced.progress.files_total, kFiles);
  EXPECT_EQ(synced.progress.files_done, kFiles);
  EXPECT_EQ(synced.progress.bytes_total, kBytes);
  EXPECT_EQ(differences(second.mount, truth_), "");  // also fills the second node's cache

  // What came in without the mount is in no cache of the node that brought it.
  const auto before =
      status_when(first, [](const auto& s) { return s.index && s.index->files > 0; });
  ASSERT_TRUE(before.index);
  EXPECT_EQ(before.index->files, kFiles);
  EXPECT_EQ(before.index->bytes, kBytes);
  EXPECT_EQ(before.cache.bytes, 0);
  EXPECT_EQ(before.cache.disk_size, std::int64_t{1024} << 20);

  const auto cleared = run_job(second, "clear-1", {.kind = JobKind::kClear});
  ASSERT_EQ(cleared.state, JobState::kSucceeded) << cleared.error;
  EXPECT_EQ(status_when(second, [](const auto& s) { return s.cache.bytes == 0; }).cache.bytes, 0);

  ASSERT_TRUE(client(second).put_job("warm-1", warmup_job(1, 2, first.address)));
  const auto warm0 = run_job(first, "warm-1", warmup_job(0, 2));
  ASSERT_EQ(warm0.state, JobState::kSucceeded) << warm0.error;
  const auto warm1 = wait_for(second, "warm-1");
  ASSERT_EQ(warm1.state, JobState::kSucceeded) << warm1.error;
  EXPECT_EQ(warm0.progress.files_done + warm1.progress.files_done, kFiles);
  EXPECT_EQ(warm0.progress.bytes_done, kBytes / 2);
  EXPECT_EQ(warm1.progress.bytes_done, kBytes / 2);
  for (const Runtime* runtime : {&first, &second}) {
    const auto now = status_when(*runtime, [](const auto& s) {
      return s.cache.bytes == kBytes / 2 && s.part_cached_bytes == kBytes / 2;
    });
    EXPECT_EQ(now.cache.bytes, kBytes / 2);
    EXPECT_EQ(now.part_bytes, kBytes / 2);
    EXPECT_EQ(now.part_cached_bytes, kBytes / 2);
    EXPECT_EQ(now.remark, "");
  }

  runtime::JobRequest removal{.kind = JobKind::kRemove};
  removal.which.paths = {"class0", "class1"};
  removal.which.skip_trash = true;
  const auto removed = run_job(first, "rmr-1", removal);
  ASSERT_EQ(removed.state, JobState::kSucceeded) << removed.error;
  EXPECT_FALSE(std::filesystem::exists(first.mount + "/class0"));
  const auto after =
      status_when(first, [](const auto& s) { return s.index && s.index->files == kFiles / 7 * 5; });
  EXPECT_EQ(after.index->files, kFiles / 7 * 5);
  EXPECT_EQ(after.index->bytes, kBytes / 7 * 5);
  EXPECT_EQ(run_job(first, "rmr-2", removal).state, JobState::kFailed);  // nothing of it is left
  removal.which.again = true;  // as one that may have had its effect on a runtime that is gone
  const auto again = run_job(first, "rmr-3", removal);
  EXPECT_EQ(again.state, JobState::kSucceeded) << again.error;

  // Neither through a link, nor by a name that is cut to another's.
  std::filesystem::create_symlink("/proc", first.mount + "/out");
  removal.which = {.paths = {"out/class2"}};
  EXPECT_EQ(run_job(first, "rmr-4", removal).state, JobState::kFailed);
  removal.which.paths = {std::string(256 + 6, 'x')};
  EXPECT_EQ(run_job(first, "rmr-5", removal).state, JobState::kFailed);
  EXPECT_TRUE(std::filesystem::exists(first.mount + "/class2"));

  // A list with more than paths in it warms nothing up.
  ASSERT_TRUE(write_file(first.mount + "/train.txt", "class2/2.jpg 0\nclass3/3.jpg 1\n"));
  runtime::JobRequest listed = warmup_job(0, 1);
  listed.which.file = "train.txt";
  const auto labels = run_job(first, "warm-2", listed);
  EXPECT_EQ(labels.state, JobState::kFailed);
  EXPECT_NE(labels.error.find("'class2/2.jpg 0'"), std::string::npos) << labels.error;

  expect_no_secret_in_argv();
}

TEST_F(VolumeTest, AKilledSyncContinuesAndFetchesAlmostNothingTwice) {
  // The ten files in flight when it is killed are fetched again, and each object has some 1.2 KB of
  // headers: with so many, of this size, both together are far less than one in twenty.
  constexpr std::size_t kBig = 4 * kSize;
  constexpr std::int64_t kAll = static_cast<std::int64_t>(2UL * kFiles * kBig);
  put_source(2 * kFiles, kBig);
  ASSERT_EQ(format(path("volume")).exit_code, 0);
  Runtime& node = add_runtime();
  const std::int64_t begun = proxy_->bytes();
  ASSERT_TRUE(client(node).put_job("sync-1", sync_job(/*megabits=*/200)));
  ASSERT_TRUE(eventually([&] { return proxy_->bytes() - begun > kAll / 3; }));
  expect_no_secret_in_argv();
  kill_server(node);
  const std::int64_t killed = proxy_->bytes();
  EXPECT_LT(killed - begun, kAll);  // it was in the middle

  serve(node);  // the journal knows the job
  const auto report = wait_for(node, "sync-1");
  ASSERT_EQ(report.state, JobState::kSucceeded) << report.error;
  const std::int64_t fetched = proxy_->bytes() - begun;
  EXPECT_GE(fetched, kAll);
  EXPECT_LT(fetched, kAll + kAll / 20) << "fetched twice";
  EXPECT_EQ(differences(node.mount, truth_), "");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           node.mount, std::filesystem::directory_options::skip_permission_denied)) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".jfs.")) << entry.path();
  }
}

TEST_F(VolumeTest, AStoppedRuntimeEndsItsProgramAndKeepsTheJob) {
  put_source(kFiles, kSize);
  ASSERT_EQ(format(path("volume")).exit_code, 0);
  Runtime& node = add_runtime();
  ASSERT_TRUE(client(node).put_job("sync-1", sync_job(/*megabits=*/8)));
  const std::int64_t begun = proxy_->bytes();
  ASSERT_TRUE(eventually([&] { return proxy_->bytes() - begun > 200'000; }));
  EXPECT_EQ(stop_server(node), (Exit{0, 0}));
  const std::int64_t ended = proxy_->bytes();
  system_clock().sleep(std::chrono::milliseconds{300}, {});
  EXPECT_EQ(proxy_->bytes(), ended) << "something still fetches";
  serve(node);
  const auto report = client(node).job("sync-1");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(runtime::ended(report->state));
}

// As in the tutorial, with a server that has the endpoint's name and TLS.
TEST_F(VolumeTest, SyncsFromBosAnonymouslyAndSigned) {
  const auto authority = Authority::create("bos-test");
  ASSERT_TRUE(authority) << authority.error().message;
  const auto pair = authority->server({"DNS:localhost"});
  ASSERT_TRUE(pair) << pair.error().message;
  ASSERT_TRUE(write_file(path("bos.crt"), pair->certificate));
  ASSERT_TRUE(write_file(path("bos.key"), pair->key));
  auto bos = BosServer::start({{"imagenet/demo/a/1.jpg", "one"}, {"imagenet/demo/2.jpg", "second"}},
                              {.certificate_file = path("bos.crt"), .key_file = path("bos.key")});
  ASSERT_TRUE(bos) << bos.error().message;

  source_ = "bos://demo.localhost:" + std::to_string((*bos)->port()) + "/imagenet/demo";
  std::filesystem::remove_all(path("source"));
  std::filesystem::create_directories(path("source"));
  ASSERT_TRUE(write_file(path("source/ca.crt"), authority->certificate()));
  ASSERT_EQ(format(path("volume")).exit_code, 0);
  Runtime& node = add_runtime();
  const auto anonymous = run_job(node, "sync-1", sync_job());
  ASSERT_EQ(anonymous.state, JobState::kSucceeded) << anonymous.error;
  const std::map<std::string, std::string> samples{{"a/1.jpg", "one"}, {"2.jpg", "second"}};
  EXPECT_EQ(differences(node.mount, samples), "");
  for (const auto& caller : (*bos)->callers()) EXPECT_EQ(caller, "");

  ASSERT_TRUE(write_file(path("source/access-key"), kAccessKey));
  ASSERT_TRUE(write_file(path("source/secret-key"), kSecretKey));
  runtime::JobRequest again = sync_job();
  again.sync.force_update = true;
  again.sync.destination = "signed";
  const auto with_keys = run_job(node, "sync-2", again);
  ASSERT_EQ(with_keys.state, JobState::kSucceeded) << with_keys.error;
  EXPECT_EQ(differences(node.mount + "/signed", samples), "");
  EXPECT_EQ((*bos)->callers().back(), std::string("bce-auth-v1/") + kAccessKey);
}

TEST_F(VolumeTest, ErrorsTellWhatIsWrongWithoutASecret) {
  ASSERT_TRUE(write_file(path("volume/secret-key"), "canary-wrong"));
  const Ran refused = format(path("volume"));
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("cannot be created"), std::string::npos) << refused.err;
  EXPECT_EQ(refused.err.find("canary"), std::string::npos) << refused.err;

  std::filesystem::create_directories(path("bare"));
  std::filesystem::copy(path("volume/name"), path("bare/name"));
  std::filesystem::copy(path("volume/metaurl"), path("bare/metaurl"));
  const Ran missing = format(path("bare"));
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("has no storage and bucket"), std::string::npos) << missing.err;

  write_secrets();
  ASSERT_EQ(format(path("volume")).exit_code, 0);
  EXPECT_EQ(format(path("bare")).exit_code, 0);  // it exists now
  put_source(1, 10);
  ASSERT_TRUE(write_file(path("source/secret-key"), "canary-wrong"));
  Runtime& node = add_runtime();
  const auto report = run_job(node, "sync-1", sync_job());
  EXPECT_EQ(report.state, JobState::kFailed);
  EXPECT_NE(report.error.find("juicefs sync"), std::string::npos) << report.error;

  runtime::JobRequest odd = sync_job();
  odd.sync.source = "gopher://somewhere/else";
  const auto unknown = run_job(node, "sync-2", odd);
  EXPECT_EQ(unknown.state, JobState::kFailed);
  EXPECT_NE(unknown.error.find("bos"), std::string::npos) << unknown.error;
}

}  // namespace
}  // namespace paddle::test
