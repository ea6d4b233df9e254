// SPDX-License-Identifier: Apache-2.0
//
// Sources that are right, wrong, gone, and whose credentials change: a real S3 server.

#include <filesystem>
#include <fstream>
#include <thread>

#include "net/http_client.h"
#include "test/runtime/fixture.h"
#include "test/support/eventually.h"
#include "test/support/s3_gateway.h"

namespace paddle::test {
namespace {

using runtime::JobKind;
using runtime::JobState;

class RuntimeSourceTest : public RuntimeTest {
 protected:
  void SetUp() override {
    const auto started = gateway_.start();
    ASSERT_TRUE(started) << started.error().message;
    std::filesystem::create_directory(secret_);
    keys("paddle", "canary-secret-77aa", gateway_.endpoint());
  }
  void keys(const std::string& access, const std::string& secret, const std::string& endpoint) {
    ASSERT_TRUE(write_file(secret_ + "/access-key", access + "\n"));
    ASSERT_TRUE(write_file(secret_ + "/secret-key", secret + "\n"));
    ASSERT_TRUE(write_file(secret_ + "/endpoint", endpoint + "\n"));
  }
  void fill_bucket(int count) {
    for (int i = 0; i < count; ++i) {
      const std::string path = "c" + std::to_string(i % 3) + "/" + std::to_string(i);
      truth_[path] = pattern(static_cast<std::uint64_t>(i), 0, 50'000);
      ASSERT_TRUE(gateway_.put("/bucket/set/" + path, truth_[path]));
    }
  }
  void serve(const std::string& uri = "s3://bucket/set",
             const std::vector<std::string>& more = {}) {
    std::vector<std::string> flags{"--source-secret=" + secret_};
    flags.insert(flags.end(), more.begin(), more.end());
    start(uri, flags);
  }

  // On the disk of the cache, in the middle of the file's bytes.
  void flip_byte_of(const std::string& path) {
    const std::string segment = cache_ + "/store/segment.1";
    const std::size_t at = read_file(segment).find(truth_.at(path));
    ASSERT_NE(at, std::string::npos) << path << " is not in " << segment;
    std::fstream file(segment, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at + 20'000));
    file.put(static_cast<char>(truth_.at(path)[20'000] ^ 1));
    ASSERT_TRUE(file.good());
  }
  const std::string secret_ = scratch_.path() + "/secret";
  S3Gateway gateway_{{.access_key = "paddle", .secret_key = "canary-secret-77aa"}};
};

TEST_F(RuntimeSourceTest, ABucketIsSyncedWarmedUpAndReadWithoutItsServer) {
  if (!why_no_mounts().empty()) GTEST_SKIP() << why_no_mounts();
  fill_bucket(30);
  serve();
  ASSERT_EQ(run_job("s", {.kind = JobKind::kSync}).state, JobState::kSucceeded);
  mount();
  attach();
  EXPECT_EQ(read_all(point_ / "c0/0").bytes, truth_.at("c0/0")) << "through the cache";
  ASSERT_EQ(run_job("w", {.kind = JobKind::kWarmup}).state, JobState::kSucceeded);
  gateway_.stop();
  for (const auto& [path, bytes] : truth_) EXPECT_EQ(read_all(point_ / path).bytes, bytes) << path;
  kill();
  serve();
  attach();
  for (const auto& [path, bytes] : truth_) {
    drop_page_cache(point_ / path);
    EXPECT_EQ(read_all(point_ / path).bytes, bytes) << path << " after a restart without a source";
  }
}

TEST_F(RuntimeSourceTest, AVerificationFindsDamageThatWasPlantedAndRepairsIt) {
  if (!why_no_mounts().empty()) GTEST_SKIP() << why_no_mounts();
  fill_bucket(30);
  serve("s3://bucket/set", {"--scrub-mib=0"});  // it would find damage first
  ASSERT_EQ(run_job("s", {.kind = JobKind::kSync}).state, JobState::kSucceeded);
  ASSERT_EQ(run_job("w", {.kind = JobKind::kWarmup}).state, JobState::kSucceeded);
  const auto sound = run_job("sound", {.kind = JobKind::kVerify});
  ASSERT_EQ(sound.state, JobState::kSucceeded) << sound.error;
  EXPECT_EQ(sound.progress.verification, (api::Verification{.checked = 30, .compared = 30}))
      << "this server's ETags are MD5s";
  EXPECT_EQ(sound.progress.bytes_done, 30 * 50'000);

  flip_byte_of("c1/4");
  flip_byte_of("c2/5");
  ASSERT_EQ(run_job("c", {.kind = JobKind::kClear, .which = {.paths = {"c0/0"}}}).state,
            JobState::kSucceeded);
  ASSERT_TRUE(gateway_.put("/bucket/set/c1/1", "another version"));
  ASSERT_TRUE(gateway_.put("/bucket/set/c1/new", "not indexed"));
  const auto found = run_job("found", {.kind = JobKind::kVerify});
  ASSERT_EQ(found.state, JobState::kSucceeded) << found.error;
  EXPECT_EQ(found.progress.verification,
            (api::Verification{.checked = 30,
                               .compared = 27,
                               .missing = 1,
                               .stale = 1,
                               .corrupt = 2,
                               .first_problems = {{.path = "c1/4", .problem = "corrupt"},
                                                  {.path = "c2/5", .problem = "corrupt"},
                                                  {.path = "c1/1", .problem = "stale"},
                                                  {.path = "c0/0", .problem = "missing"}}}));
  EXPECT_NE(client_.status()->remark.find("damaged blocks of the cache: 2"), std::string::npos)
      << client_.status()->remark;

  flip_byte_of("c1/7");
  const auto repaired =
      run_job("repaired", {.kind = JobKind::kVerify, .which = {.threads = 1, .repair = true}});
  ASSERT_EQ(repaired.state, JobState::kSucceeded) << repaired.error;
  EXPECT_EQ(repaired.progress.verification->corrupt, 1);
  EXPECT_EQ(repaired.progress.verification->missing, 3) << "what was corrupt had been dropped";
  EXPECT_EQ(repaired.progress.verification->repaired, 4);
  EXPECT_EQ(client_.status()->cache.files, 30);
  gateway_.stop();
  mount();
  attach();
  for (const auto& [path, bytes] : truth_) EXPECT_EQ(read_all(point_ / path).bytes, bytes) << path;

  const auto offline = run_job("offline", {.kind = JobKind::kVerify});
  EXPECT_EQ(offline.state, JobState::kFailed);
  EXPECT_NE(offline.error.find("the cache was checked"), std::string::npos) << offline.error;
  EXPECT_EQ(offline.progress.verification->checked, 30);
}

TEST_F(RuntimeSourceTest, ErrorsOfASourceTellWhatToDo) {
  keys("paddle", "canary-wrong", gateway_.endpoint());
  serve();
  const auto refused = run_job("keys", {.kind = JobKind::kSync});
  EXPECT_EQ(refused.state, JobState::kFailed);
  EXPECT_NE(refused.error.find("refuses the credentials: check access-key"), std::string::npos)
      << refused.error;

  keys("paddle", "canary-secret-77aa", gateway_.endpoint());
  fill_bucket(3);
  EXPECT_EQ(run_job("right-keys", {.kind = JobKind::kSync}).state, JobState::kSucceeded)
      << "keys are read again at each sync";
  kill();

  serve("s3://no-such-bucket/x");
  const auto missing = run_job("bucket", {.kind = JobKind::kSync});
  EXPECT_EQ(missing.state, JobState::kFailed);
  EXPECT_NE(missing.error.find("does not exist: check the bucket"), std::string::npos)
      << missing.error;
  EXPECT_EQ(client_.status()->index->generation, 1) << "what was there is still served";
}

TEST_F(RuntimeSourceTest, AnUnreachableEndpointFailsTheJobAndNotTheRuntime) {
  keys("paddle", "canary-secret-77aa", gateway_.endpoint());
  gateway_.stop();
  serve();
  const auto unreachable = run_job("s", {.kind = JobKind::kSync});
  EXPECT_EQ(unreachable.state, JobState::kFailed);
  EXPECT_NE(unreachable.error.find("does not answer: to a runtime, which has a network of its own"),
            std::string::npos)
      << unreachable.error;
  EXPECT_TRUE(client_.status());
}

TEST_F(RuntimeSourceTest, ReadsUseNewKeysWithoutASync) {
  if (!why_no_mounts().empty()) GTEST_SKIP() << why_no_mounts();
  fill_bucket(3);
  serve();
  ASSERT_EQ(run_job("s", {.kind = JobKind::kSync}).state, JobState::kSucceeded);
  mount();
  attach();
  keys("paddle", "canary-wrong", gateway_.endpoint());
  kill();
  serve();
  attach();
  EXPECT_NE(read_all(point_ / "c0/0").error, 0);
  keys("paddle", "canary-secret-77aa", gateway_.endpoint());
  EXPECT_EQ(read_all(point_ / "c0/0").bytes, truth_.at("c0/0"));
}

TEST_F(RuntimeSourceTest, AReaderThatWaitsForTheSourceSurvivesTheEndOfItsRuntime) {
  if (!why_no_mounts().empty()) GTEST_SKIP() << why_no_mounts();
  fill_bucket(3);
  serve();
  ASSERT_EQ(run_job("s", {.kind = JobKind::kSync}).state, JobState::kSucceeded);
  mount();
  attach();
  if (!attached_->agreed.can_resend()) {
    GTEST_SKIP() << "this kernel has no FUSE_NOTIFY_RESEND (Linux 6.9)";
  }
  // The first close asks the daemon. A later one does not, so that starting the next runtime (a
  // fork of this process, with the reader's file) does not wait for that very runtime.
  EXPECT_EQ(read_all(point_ / "c0/0").bytes, truth_.at("c0/0"));
  const FuseControl control;
  ASSERT_TRUE(gateway_.pause());
  Content content;
  std::jthread reader([&] { content = read_all(point_ / "c1/1"); });
  EXPECT_TRUE(eventually([&] { return control.waiting(mounted_->device) > 0; }));
  EXPECT_EQ(stop(), (Exit{0, 0})) << "it does not wait for the source";
  gateway_.resume();
  serve();
  attach();
  if (HasFatalFailure()) mounted_.reset();  // lets the reader go
  reader.join();
  EXPECT_EQ(content.error, 0);
  EXPECT_EQ(content.bytes, truth_.at("c1/1"));
}

TEST_F(RuntimeSourceTest, SecretsAreInNoReplyArgumentOrFileOfTheCache) {
  fill_bucket(3);
  serve();
  (void)run_job("s", {.kind = JobKind::kSync});
  keys("paddle", "canary-wrong", gateway_.endpoint());
  (void)run_job("failed", {.kind = JobKind::kSync});
  const std::string proc = "/proc/" + std::to_string(server_);
  EXPECT_EQ(read_file(proc + "/cmdline").find("canary"), std::string::npos);
  EXPECT_EQ(read_file(proc + "/environ").find("canary"), std::string::npos);
  net::HttpClient http{{}};
  for (const char* path : {"/v1/jobs", "/v1/jobs/failed", "/v1/status", "/metrics", "/nothing"}) {
    const auto reply =
        http.send({.url = "http://" + address_ + path,
                   .headers = {{"Authorization", std::string("Bearer ") + kCanaryToken}}});
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->body.find("canary"), std::string::npos) << path;
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(cache_)) {
    if (!entry.is_regular_file()) continue;
    EXPECT_EQ(read_file(entry.path()).find("canary"), std::string::npos) << entry.path();
  }
}

}  // namespace
}  // namespace paddle::test
