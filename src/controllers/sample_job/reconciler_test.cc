// SPDX-License-Identifier: Apache-2.0
//
// The reconciler against a FakeCluster and fake runtimes; also with calls that fail, get lost and
// are repeated.

#include "controllers/sample_job/reconciler.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/phases.h"
#include "base/base64.h"
#include "base/sync.h"
#include "controllers/sample_job/spec/names.h"
#include "engine/names.h"
#include "kube/fake/failing_cluster.h"
#include "kube/fake/fake_cluster.h"
#include "test/support/until.h"

namespace paddle::controllers::sample_job {
namespace {

using namespace std::chrono_literals;
using kube::Json;
using kube::ObjectKey;
namespace kinds = kube::resources;
using api::sample_job_phase::is_final;
using runtime::JobState;
using test::until;

const ObjectKey kSet{"train", "imagenet"};

// Each runtime takes jobs in order. A query for any job completes the first one that is open;
// done_at() lists what was completed.
class FakeRuntimes {
 public:
  runtime::RuntimeClientFactory at() {
    return [this](const std::string& address, const runtime::RuntimeCredentials& access) {
      EXPECT_EQ(access.token, "secret");
      EXPECT_EQ(access.authority, "");  // the engine of this set does not serve TLS
      return std::make_unique<One>(*this, address);
    };
  }
  std::map<std::string, std::string> keys() EXCLUDES(mutex_) {
    Lock lock(mutex_);
    return keys_;
  }
  // Ids in the order in which this runtime completed them.
  std::vector<std::string> done_at(const std::string& address) EXCLUDES(mutex_) {
    Lock lock(mutex_);
    return done_[address];
  }
  size_t open_at(const std::string& address) EXCLUDES(mutex_) {
    Lock lock(mutex_);
    size_t open = 0;
    for (const auto& job : jobs_[address]) open += !runtime::ended(job.state);
    return open;
  }
  size_t jobs_at(const std::string& address) EXCLUDES(mutex_) {
    Lock lock(mutex_);
    return jobs_[address].size();
  }
  int polled() EXCLUDES(mutex_) {
    Lock lock(mutex_);
    return polled_;
  }
  void stop_working(bool stopped) EXCLUDES(mutex_) {
    Lock lock(mutex_);
    stopped_ = stopped;
  }
  // Requests of this kind fail with this error.
  void refuse(runtime::JobKind kind, Error why) EXCLUDES(mutex_) {
    Lock lock(mutex_);
    refusals_.emplace(kind, std::move(why));
  }

 private:
  class One final : public runtime::RuntimeClient {
   public:
    One(FakeRuntimes& all, std::string address) : all_(all), address_(std::move(address)) {}
    Result<runtime::StatusReport> status(std::stop_token) override {
      return runtime::StatusReport{};
    }
    Result<runtime::JobReport> job(const std::string& id, std::stop_token) override {
      return all_.job(address_, id);
    }
    Result<std::vector<runtime::JobReport>> jobs(std::stop_token) override {
      Lock lock(all_.mutex_);
      return all_.jobs_[address_];
    }
    Result<runtime::JobReport> put_job(const std::string& id, const runtime::JobRequest& request,
                                       std::stop_token) override {
      return all_.put(address_, id, request);
    }
    Result<> cancel(const std::string& id, std::stop_token) override {
      Lock lock(all_.mutex_);
      for (auto& job : all_.jobs_[address_]) {
        if (job.id == id && !runtime::ended(job.state)) job.state = JobState::kCancelled;
      }
      return Done{};
    }

   private:
    FakeRuntimes& all_;
    const std::string address_;
  };

  Result<runtime::JobReport> job(const std::string& address, const std::string& id)
      EXCLUDES(mutex_) {
    Lock lock(mutex_);
    auto& all = jobs_[address];
    const auto open =
        std::ranges::find_if(all, [](const auto& each) { return !runtime::ended(each.state); });
    if (!stopped_ && open != all.end()) {
      open->state = JobState::kSucceeded;
      done_[address].push_back(open->id);
    }
    const auto found = std::ranges::find(all, id, &runtime::JobReport::id);
    if (found == all.end()) return Error{Code::kNotFound, "no such job"};
    ++polled_;
    found->progress.bytes_total = 1'000'000'000;
    found->progress.bytes_done += 1000;
    return *found;
  }
  Result<runtime::JobReport> put(const std::string& address, const std::string& id,
                                 const runtime::JobRequest& request) EXCLUDES(mutex_) {
    Lock lock(mutex_);
    auto& all = jobs_[address];
    if (const auto refusal = refusals_.find(request.kind); refusal != refusals_.end()) {
      return refusal->second;
    }
    keys_ = request.sync.keys.values;
    const auto found = std::ranges::find(all, id, &runtime::JobReport::id);
    if (found != all.end()) return *found;
    all.push_back({.id = id, .kind = request.kind, .state = JobState::kRunning});
    return all.back();
  }

  Mutex mutex_;
  bool stopped_ GUARDED_BY(mutex_) = false;
  int polled_ GUARDED_BY(mutex_) = 0;
  std::map<runtime::JobKind, Error> refusals_ GUARDED_BY(mutex_);
  std::map<std::string, std::string> keys_ GUARDED_BY(mutex_);
  std::map<std::string, std::vector<runtime::JobReport>> jobs_ GUARDED_BY(mutex_);
  std::map<std::string, std::vector<std::string>> done_ GUARDED_BY(mutex_);
};

struct SampleJobReconcilerTest : ::testing::Test {
  kube::FakeCluster server{};
  FakeRuntimes runtimes{};
  runtime::RuntimePolls polls{};  // empty: by `runtimes`
  runtime::RuntimeSends sends{};  // the same
  int workers = 4;
  Metrics metrics{};

  void create_set(int partitions = 2) {
    const Json object = {
        {"apiVersion", api::SampleSet::kApiVersion},
        {"kind", api::SampleSet::kKind},
        {"metadata", {{"namespace", kSet.ns}, {"name", kSet.name}}},
        {"spec", {{"partitions", partitions}, {"source", {{"uri", "s3://b/images"}}}}}};
    auto made = server.create(kinds::kSampleSets, object);
    ASSERT_TRUE(made);
    const auto set = *api::decode_sample_set(*made);
    (*made)["status"] = {{"phase", "Ready"}, {"engine", "samplefs"}};
    ASSERT_TRUE(server.update(kinds::kSampleSets, *made, "status"));
    Json secret = {{"apiVersion", "v1"},
                   {"kind", "Secret"},
                   {"data",
                    {{engine::kTokenKey, base64_encode("secret")},
                     {engine::kAuthorityKey, base64_encode("certificates")}}}};
    secret["metadata"] = api::encode_meta(
        {.key = {kSet.ns, engine::runtime_name(set)}, .owners = {engine::owner_reference(set)}});
    ASSERT_TRUE(server.create(kinds::kSecrets, secret));
    for (int i = 0; i < partitions; ++i) {
      Json pod = {{"apiVersion", "v1"},
                  {"kind", "Pod"},
                  {"metadata",
                   {{"namespace", kSet.ns},
                    {"name", engine::runtime_pod_name(set, i)},
                    {"labels", {{engine::kSetLabel, kSet.name}}},
                    {"ownerReferences",
                     {{{"apiVersion", "apps/v1"},
                       {"kind", "StatefulSet"},
                       {"name", engine::runtime_name(set)},
                       {"uid", "uid-of-runtimes"},
                       {"controller", true}}}}}},
                  {"spec", {{"nodeName", "node-" + std::to_string(i)}}}};
      auto stored = server.create(kinds::kPods, pod);
      ASSERT_TRUE(stored);
      (*stored)["status"] = {{"phase", "Running"}, {"podIP", "10.0.0." + std::to_string(i)}};
      ASSERT_TRUE(server.update(kinds::kPods, *stored, "status"));
    }
  }
  void create_job(const std::string& name, Json spec) {
    spec["sampleSetRef"] = {{"name", kSet.name}};
    const auto made =
        server.create(kinds::kSampleJobs, {{"apiVersion", api::SampleJob::kApiVersion},
                                           {"kind", api::SampleJob::kKind},
                                           {"metadata", {{"namespace", kSet.ns}, {"name", name}}},
                                           {"spec", spec}});
    ASSERT_TRUE(made) << made.error().message;
  }
  std::unique_ptr<Manager> make(kube::Cluster& cluster, const Clock& clock = system_clock()) {
    auto made = Manager::make(cluster, {.metrics_address = "0", .health_address = "0"}, metrics);
    EXPECT_TRUE(made);
    EXPECT_TRUE((*made)->add(
        {.name = kControllerName, .workers = workers}, [&](const ControllerContext& context) {
          Options options{.polls = polls ? polls : runtime::polls_by(runtimes.at()),
                          .sends = sends ? sends : runtime::sends_by(runtimes.at())};
          options.config.progress_poll = 10ms;
          return make_reconciler(context, options, clock);
        }));
    return *std::move(made);
  }
  api::SampleJob job(const std::string& name) {
    const auto found = server.get(kinds::kSampleJobs, {kSet.ns, name});
    return found ? *api::decode_sample_job(*found) : api::SampleJob{};
  }
  std::vector<api::SampleJob> all_jobs() {
    std::vector<api::SampleJob> all;
    EXPECT_TRUE(server.list(kinds::kSampleJobs, {}, [&](std::string_view text) -> Result<> {
      all.push_back(*api::decode_sample_job(Json::parse(text)));
      return Done{};
    }));
    return all;
  }
  // Runs a few jobs to their end; none has an effect twice.
  void live(kube::Cluster& cluster) {
    auto manager = make(cluster);
    std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
    for (int i = 0; i < 6; ++i) {
      create_job("job-" + std::to_string(i), {{"type", i % 2 ? "warmup" : "clear"}});
    }
    system_clock().sleep(20ms, {});
    create_set();  // the jobs have waited for it
    until([&] {
      return std::ranges::all_of(all_jobs(),
                                 [](const auto& each) { return each.status.phase == "Succeeded"; });
    });
    for (const char* address : {"10.0.0.0", "10.0.0.1"}) {
      auto done = runtimes.done_at(address);
      EXPECT_EQ(done.size(), 6u);
      std::ranges::sort(done);
      EXPECT_EQ(std::unique(done.begin(), done.end()), done.end()) << "an effect happened twice";
    }
    running.request_stop();
  }
};

TEST_F(SampleJobReconcilerTest, RunsJobsToTheirEndOnceTheirSetExists) { live(server); }

TEST_F(SampleJobReconcilerTest, RunsJobsToTheirEndWhenEveryCallFailsOnce) {
  kube::FailingCluster failing(server, kube::faults::each_once({}));
  live(failing);
  EXPECT_GT(failing.injected(), 10u);
}

TEST_F(SampleJobReconcilerTest, RunsJobsToTheirEndWhenAnswersAreLostAndRequestsRepeated) {
  kube::FailingCluster failing(server, kube::faults::random(7, 0.2));
  live(failing);
  EXPECT_GT(failing.injected(), 5u);
}

TEST_F(SampleJobReconcilerTest, ManyJobsOfOneTypeAreDoneInOrder) {
  create_set();
  constexpr int kJobs = 40;
  for (int i = 0; i < kJobs; ++i) {
    create_job("job-" + std::to_string(100 + i), {{"type", "warmup"}});
  }
  auto manager = make(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return runtimes.done_at("10.0.0.1").size() == kJobs; });
  std::vector<api::SampleJob> jobs = all_jobs();
  std::ranges::sort(jobs, [](const auto& a, const auto& b) {
    return std::tie(a.meta.created, a.meta.key.name) < std::tie(b.meta.created, b.meta.key.name);
  });
  const auto done = runtimes.done_at("10.0.0.0");
  ASSERT_EQ(done.size(), jobs.size());
  // A job is overtaken by at most as many as are sent at once.
  for (size_t i = 0; i < done.size(); ++i) {
    const auto place = std::ranges::find_if(
        jobs, [&](const auto& each) { return done[i].starts_with(id_prefix(each.meta)); });
    ASSERT_NE(place, jobs.end());
    EXPECT_NEAR(static_cast<double>(place - jobs.begin()), static_cast<double>(i), 8) << done[i];
  }
  running.request_stop();
}

TEST_F(SampleJobReconcilerTest, AJobThatARuntimeRejectsFailsWithTheRuntimesMessage) {
  runtimes.refuse(runtime::JobKind::kWarmup, {Code::kInvalid, "ranks is too large"});
  create_set();
  create_job("wrong", {{"type", "warmup"}});
  create_job("right", {{"type", "clear"}});
  auto manager = make(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return is_final(job("wrong").status.phase) && is_final(job("right").status.phase); });
  EXPECT_EQ(job("right").status.phase, "Succeeded");
  EXPECT_EQ(job("wrong").status.phase, "Failed");
  const auto wrong = job("wrong");
  const auto* failed = api::find_condition(wrong.status.conditions, "Failed");
  ASSERT_TRUE(failed);
  EXPECT_NE(failed->message.find("ranks is too large"), std::string::npos) << failed->message;
  running.request_stop();
}

TEST_F(SampleJobReconcilerTest, WaitsForADeletedSecretAndNamesIt) {
  create_set();
  const Json secret = {{"apiVersion", "v1"},
                       {"kind", "Secret"},
                       {"metadata", {{"namespace", kSet.ns}, {"name", "keys"}}},
                       {"data", {{"access-key", base64_encode("me")}}}};
  ASSERT_TRUE(server.create(kinds::kSecrets, secret));
  create_job("copy", {{"type", "sync"}, {"secretRef", {{"name", "keys"}}}});
  {  // A previous operator has stored the id of an attempt; the Secret has been deleted since.
    auto stored = server.get(kinds::kSampleJobs, {kSet.ns, "copy"});
    ASSERT_TRUE(stored);
    auto known = *api::decode_sample_job(*stored);
    const std::string id = id_prefix(known.meta) + "1-0";
    known.status = {.phase = "Pending", .job_name = id};
    for (int i = 0; i < 2; ++i) {
      known.status.partitions.push_back({.index = i, .id = id, .state = "Pending"});
    }
    ASSERT_TRUE(server.update(kinds::kSampleJobs, api::encode(known), "status"));
    ASSERT_TRUE(server.remove(kinds::kSecrets, {kSet.ns, "keys"}, {}));
  }
  auto manager = make(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] {
    const auto now = job("copy");
    const auto* ready = api::find_condition(now.status.conditions, "Ready");
    return ready && ready->message.find("waiting for secret keys") != std::string::npos;
  });
  ASSERT_TRUE(server.create(kinds::kSecrets, secret));
  until([&] { return job("copy").status.phase == "Succeeded"; });
  running.request_stop();
}

TEST_F(SampleJobReconcilerTest, ADeletedJobIsCancelledByThisOperatorOrTheNext) {
  create_set();
  runtimes.stop_working(true);
  for (const bool watched : {true, false}) {
    create_job("running", {{"type", "warmup"}});
    {
      auto manager = make(server);
      std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
      until([&] { return runtimes.open_at("10.0.0.0") == 1 && runtimes.open_at("10.0.0.1") == 1; });
      if (watched) {
        ASSERT_TRUE(server.remove(kinds::kSampleJobs, {kSet.ns, "running"}));
        until([&] { return runtimes.open_at("10.0.0.0") + runtimes.open_at("10.0.0.1") == 0; });
      }
    }
    if (watched) continue;
    ASSERT_TRUE(server.remove(kinds::kSampleJobs, {kSet.ns, "running"}));
    auto manager = make(server);
    std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
    until([&] { return runtimes.open_at("10.0.0.0") + runtimes.open_at("10.0.0.1") == 0; });
  }
  EXPECT_TRUE(runtimes.done_at("10.0.0.0").empty());
}

TEST_F(SampleJobReconcilerTest, KeysOfAnotherSourceGoToTheRuntimeAndNowhereElse) {
  create_set();
  ASSERT_TRUE(server.create(
      kinds::kSecrets, {{"apiVersion", "v1"},
                        {"kind", "Secret"},
                        {"metadata", {{"namespace", kSet.ns}, {"name", "other"}}},
                        {"data",
                         {{"access-key", base64_encode("me\n")},
                          {"secret-key", base64_encode("canary/+\n")},
                          {"ca.crt", base64_encode("BEGIN\nEND\n")},
                          {"address-style", base64_encode("virtual")},
                          {"bwlimit", base64_encode("100\n")},
                          {"list-threads", base64_encode("4")},
                          {"version-ids", base64_encode("true")},
                          {"etag-is-md5", base64_encode("false")},
                          {"password-of-something-else", base64_encode("canary-of-another")}}}}));
  create_job("from-elsewhere", {{"type", "sync"},
                                {"secretRef", {{"name", "other"}}},
                                {"syncOptions", {{"source", "s3://elsewhere/x"}}}});
  auto manager = make(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return job("from-elsewhere").status.phase == "Succeeded"; });
  EXPECT_EQ(runtimes.keys(), (std::map<std::string, std::string>{{"access-key", "me"},
                                                                 {"secret-key", "canary/+"},
                                                                 {"ca.crt", "BEGIN\nEND"},
                                                                 {"address-style", "virtual"},
                                                                 {"bwlimit", "100"},
                                                                 {"list-threads", "4"},
                                                                 {"version-ids", "true"},
                                                                 {"etag-is-md5", "false"}}));
  const auto stored = server.get(kinds::kSampleJobs, {kSet.ns, "from-elsewhere"});
  EXPECT_EQ(stored->dump().find("canary"), std::string::npos);
  running.request_stop();
}

// Of a job on many runtimes, whose progress moves with every poll.
TEST_F(SampleJobReconcilerTest, ProgressIsWrittenAtMostEveryFiveSeconds) {
  runtimes.stop_working(true);
  constexpr int kPartitions = 64;
  std::atomic<int> writes = 0;
  const auto count_writes = [&](const kube::Request& request,
                                size_t) -> std::optional<kube::Fault> {
    writes += request.verb == kube::Verb::kUpdate && request.resource == kinds::kSampleJobs &&
              request.sub == "status";
    return std::nullopt;
  };
  kube::FailingCluster counting(server, count_writes);
  create_set(kPartitions);
  create_job("long", {{"type", "warmup"}});
  auto manager = make(counting);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] {
    const auto now = job("long");
    return now.status.partitions.size() == kPartitions &&
           std::ranges::all_of(now.status.partitions,
                               [](const auto& part) { return part.state == "Running"; });
  });
  const int polls_before = runtimes.polled();
  const int writes_before = writes;
  const BootTime start = system_clock().boot();
  until([&] { return runtimes.polled() > polls_before + 20 * kPartitions; });
  const auto intervals = (system_clock().boot() - start) / 5s;
  EXPECT_LE(writes - writes_before, intervals + 1);
  running.request_stop();
}

// One worker; the runtimes of one set do not answer at all.
TEST_F(SampleJobReconcilerTest, NoPassWaitsForARuntime) {
  Mutex mutex;
  std::vector<runtime::PollDone> unanswered;
  const auto answered = runtime::polls_by(runtimes.at());
  polls = [&](const runtime::PollCall& call, const runtime::PollDone& done) {
    const bool about_dead_job =
        call.address == "10.0.0.0" && call.jobs != std::vector<std::string>{"*"};
    if (!about_dead_job) return answered(call, done);
    Lock lock(mutex);
    unanswered.push_back(done);
  };
  create_set();
  create_job("waits", {{"type", "warmup"}});
  create_job("nightly", {{"type", "clear"}, {"schedule", "* * * * *"}, {"suspend", true}});
  auto manager = make(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] {
    Lock lock(mutex);
    return !unanswered.empty();
  });
  create_job("elsewhere", {{"type", "warmup"}, {"suspend", true}});
  until([&] {
    const auto now = job("elsewhere");
    return api::find_condition(now.status.conditions, "Ready") != nullptr;
  });
  EXPECT_FALSE(is_final(job("waits").status.phase));
  running.request_stop();
}

// Runtimes that answer polls but keep requests until the test answers them.
struct SampleJobRequestsTest : SampleJobReconcilerTest {
  Mutex mutex{};
  std::vector<std::pair<runtime::JobCall, runtime::SendDone>> unanswered{};
  std::atomic<bool> silent = true;
  const runtime::RuntimeSends answered = runtime::sends_by(runtimes.at());

  void SetUp() override {
    workers = 1;
    sends = [this](const runtime::JobCall& call, const runtime::SendDone& done) {
      if (!silent) return answered(call, done);
      Lock lock(mutex);
      unanswered.emplace_back(call, done);
    };
  }
  size_t kept() EXCLUDES(mutex) {
    Lock lock(mutex);
    return unanswered.size();
  }
  std::vector<std::pair<runtime::JobCall, runtime::SendDone>> take() EXCLUDES(mutex) {
    Lock lock(mutex);
    return std::exchange(unanswered, {});
  }
  std::string ready_reason(const std::string& name) {
    const auto now = job(name);
    const auto* ready = api::find_condition(now.status.conditions, "Ready");
    return ready ? ready->reason : "";
  }
};

TEST_F(SampleJobRequestsTest, SilentRuntimesHoldNoWorker) {
  create_set(8);
  for (int i = 0; i < 4; ++i) create_job("job-" + std::to_string(i), {{"type", "warmup"}});
  auto manager = make(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return kept() == 8; });  // one for each runtime, whatever the number of jobs
  create_job("elsewhere", {{"type", "warmup"}, {"suspend", true}});
  until([&] { return !ready_reason("elsewhere").empty(); });
  silent = false;
  for (const auto& [call, done] : take()) done(Error{Code::kDeadline, "no answer in time"});
  until([&] {
    return std::ranges::all_of(all_jobs(), [](const auto& each) {
      return each.spec.suspend || each.status.phase == "Succeeded";
    });
  });
  EXPECT_EQ(runtimes.done_at("10.0.0.7").size(), 4u);
  running.request_stop();
}

// The runtime has cancelled the job before the status says why.
TEST_F(SampleJobRequestsTest, AJobIsSuspendedOnceItsCancellationIsAnswered) {
  runtimes.stop_working(true);
  silent = false;
  create_set(2);
  create_job("long", {{"type", "warmup"}});
  auto manager = make(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return runtimes.open_at("10.0.0.0") == 1 && runtimes.open_at("10.0.0.1") == 1; });
  silent = true;
  ASSERT_TRUE(server.patch(kinds::kSampleJobs, {kSet.ns, "long"},
                           {.body = {{"spec", {{"suspend", true}}}}}));
  until([&] { return kept() == 2; });  // both at once
  EXPECT_NE(ready_reason("long"), "Suspended") << "nothing is cancelled yet";
  for (const auto& [call, done] : take()) {
    EXPECT_FALSE(call.request) << "a cancellation";
    answered(call, done);
  }
  until([&] { return ready_reason("long") == "Suspended"; });
  EXPECT_EQ(job("long").status.failures, 0);
  EXPECT_EQ(runtimes.open_at("10.0.0.0"), 0u);
  running.request_stop();
}

TEST_F(SampleJobRequestsTest, AJobThatIsDeletedBeforeItsRequestArrivesIsCancelled) {
  runtimes.stop_working(true);
  create_set(1);
  create_job("gone", {{"type", "warmup"}});
  auto manager = make(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return kept() == 1; });
  ASSERT_TRUE(server.remove(kinds::kSampleJobs, {kSet.ns, "gone"}));
  silent = false;
  for (const auto& [call, done] : take()) answered(call, done);
  until([&] { return runtimes.jobs_at("10.0.0.0") == 1 && runtimes.open_at("10.0.0.0") == 0; });
  running.request_stop();
}

// The runtime is polled again before the check learns that its cancellation succeeded.
TEST_F(SampleJobRequestsTest, AnOrphanedJobIsReportedOnceItsCancellationIsAnswered) {
  runtimes.stop_working(true);
  create_set(1);
  create_job("gone", {{"type", "warmup"}});
  auto manager = make(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return kept() == 1; });
  ASSERT_TRUE(server.remove(kinds::kSampleJobs, {kSet.ns, "gone"}));
  for (const auto& [call, done] : take()) answered(call, done);
  until([&] { return kept() == 1; });  // of the check for orphaned jobs
  for (const auto& [call, done] : take()) answered(call, done);
  const auto reported = [&] {
    int count = 0;
    EXPECT_TRUE(server.list(kinds::kEvents, {}, [&](std::string_view text) -> Result<> {
      const Json event = Json::parse(text);
      if (event.value("reason", "") == "CancelJobSuccessfully") count += event.value("count", 1);
      return Done{};
    }));
    return count;
  };
  until([&] { return reported() == 1; });
  running.request_stop();
}

// Two parts at two runtimes, which never answer at the same time.
TEST_F(SampleJobRequestsTest, ACancellationThatIsDoneIsNotRepeatedWhileAnotherIsNot) {
  create_set(2);
  create_job("over", {{"type", "warmup"}});
  auto stored = server.get(kinds::kSampleJobs, {kSet.ns, "over"});
  (*stored)["status"] = {
      {"phase", "Succeeded"},
      {"left", {{{"index", 0}, {"id", "job-a"}}, {{"index", 1}, {"id", "job-b"}}}}};
  ASSERT_TRUE(server.update(kinds::kSampleJobs, *stored, "status"));
  auto manager = make(server);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return kept() == 2; });
  auto calls = take();
  answered(calls[0].first, calls[0].second);
  // Its pass follows the one that the answer causes.
  create_job("next", {{"type", "warmup"}, {"suspend", true}});
  until([&] { return !ready_reason("next").empty(); });
  answered(calls[1].first, calls[1].second);
  until([&] { return job("over").status.left.empty(); });
  EXPECT_EQ(kept(), 0u);
  running.request_stop();
}

TEST_F(SampleJobReconcilerTest, AScheduleCreatesAJobThatRuns) {
  create_set();
  create_job("nightly", {{"type", "clear"}, {"schedule", "* * * * *"}});
  const ManualClock later(system_clock().wall() + 1h);
  auto manager = make(server, later);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] {
    const auto jobs = all_jobs();
    return jobs.size() == 2 && std::ranges::any_of(jobs, [](const auto& each) {
             return each.status.phase == "Succeeded" && each.meta.controller();
           });
  });
  until([&] { return job("nightly").status.cron && job("nightly").status.cron->last_successful; });
  EXPECT_TRUE(job("nightly").status.cron->next_schedule);
  EXPECT_EQ(runtimes.done_at("10.0.0.0").size(), 1u);
  running.request_stop();
}

}  // namespace
}  // namespace paddle::controllers::sample_job
