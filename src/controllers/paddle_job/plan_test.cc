// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/plan.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/match.h"
#include "controllers/paddle_job/names.h"

namespace paddle::controllers {
namespace {

using api::Json;
using api::PodPhase;

const WallTime kNow{std::chrono::seconds{1'800'000'000}};

api::PaddleJob job_of(int workers, const char* more = "{}") {
  Json object = {
      {"metadata",
       {{"name", "resnet"}, {"namespace", "train"}, {"uid", "job-uid"}, {"generation", 1}}}};
  object["spec"] = Json::parse(more);
  object["spec"]["worker"] = {
      {"replicas", workers},
      {"template", {{"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}}}};
  return *api::decode_paddle_job(object);
}

api::Pod pod(int rank, PodPhase phase = PodPhase::kRunning) {
  const auto n = std::to_string(rank);
  api::Pod p;
  p.meta.key = {"train", "resnet-worker-" + n};
  p.meta.uid = "uid-" + n;
  p.meta.annotations[kReleaseAnnotation] = "0/10.0.0." + n;
  p.phase = phase;
  p.ip = "10.0.0." + n;
  if (phase == PodPhase::kRunning) {
    p.containers = {{.name = "c", .ready = true, .state = api::ContainerStatus::State::kRunning}};
  }
  return p;
}

template <typename T>
std::vector<T> only(const Plan& plan) {
  std::vector<T> found;
  for (const auto& action : plan) {
    if (auto* wanted = std::get_if<T>(&action)) found.push_back(*wanted);
  }
  return found;
}

std::string phase_after(const api::PaddleJob& job, const World& world) {
  const auto set = only<SetStatus>(desired(job, world, kNow));
  return set.empty() ? job.status.phase : set[0].status.phase;
}

TEST(PaddleJobPlan, CreatesEveryMissingWorkerInOnePass) {
  const auto created = only<CreatePod>(desired(job_of(3), {.pods = {pod(1)}}, kNow));
  ASSERT_EQ(created.size(), 2u);
  EXPECT_EQ(created[0].key.name, "resnet-worker-0");
  EXPECT_EQ(created[1].key.name, "resnet-worker-2");
}

TEST(PaddleJobPlan, ScalingDownRemovesTheHighestRankByUid) {
  const auto deleted = only<DeletePod>(desired(job_of(1), {.pods = {pod(0), pod(1)}}, kNow));
  ASSERT_EQ(deleted.size(), 1u);
  EXPECT_EQ(deleted[0].uid, "uid-1");
}

TEST(PaddleJobPlan, NobodyIsReleasedBeforeTheLastAddressIsKnown) {
  auto waiting = pod(0, PodPhase::kPending);
  waiting.meta.annotations.clear();
  auto late = pod(1, PodPhase::kPending);
  late.meta.annotations.clear();
  late.ip.clear();
  const auto held = desired(job_of(2), {.pods = {waiting, late}}, kNow);
  EXPECT_TRUE(only<PutRendezvous>(held).empty());
  EXPECT_TRUE(only<ReleasePod>(held).empty());

  late.ip = "10.0.0.1";
  const auto plan = desired(job_of(2), {.pods = {waiting, late}}, kNow);
  ASSERT_EQ(only<PutRendezvous>(plan).size(), 1u);
  EXPECT_EQ(only<PutRendezvous>(plan)[0].data.at("PADDLE_TRAINERS"), "10.0.0.0,10.0.0.1");
  const auto released = only<ReleasePod>(plan);
  ASSERT_EQ(released.size(), 2u);
  EXPECT_EQ(released[0].value, "0/10.0.0.0");
  // The map must be there before anybody goes on.
  const auto put = std::ranges::find_if(
      plan, [](const Action& a) { return std::holds_alternative<PutRendezvous>(a); });
  const auto first = std::ranges::find_if(
      plan, [](const Action& a) { return std::holds_alternative<ReleasePod>(a); });
  EXPECT_LT(put, first);
}

TEST(PaddleJobPlan, APodThatComesBackUnderAnotherAddressIsReleasedAnew) {
  auto moved = pod(1);
  moved.ip = "10.9.9.9";
  const auto released = only<ReleasePod>(desired(job_of(2), {.pods = {pod(0), moved}}, kNow));
  ASSERT_EQ(released.size(), 1u);
  EXPECT_EQ(released[0].value, "0/10.9.9.9");
}

TEST(PaddleJobPlan, PhasesFollowThePods) {
  auto coordinating = pod(0, PodPhase::kPending);
  coordinating.init_containers = {
      {.name = kCoordinator, .state = api::ContainerStatus::State::kRunning}};
  EXPECT_EQ(phase_after(job_of(2), {}), "Pending");
  EXPECT_EQ(phase_after(job_of(2), {.pods = {coordinating}}), "Starting");
  EXPECT_EQ(phase_after(job_of(2), {.pods = {pod(0), pod(1)}}), "Running");
  EXPECT_EQ(phase_after(job_of(2), {.pods = {pod(0), pod(1, PodPhase::kSucceeded)}}), "Running");
  EXPECT_EQ(phase_after(job_of(2), {.pods = {pod(1, PodPhase::kFailed), coordinating}}), "Failed");
  const auto done = PodPhase::kSucceeded;
  EXPECT_EQ(phase_after(job_of(2), {.pods = {pod(0, done), pod(1, done)}}), "Completed");
}

TEST(PaddleJobPlan, PsJobsCompleteWithTheirWorkersAndThenStopTheServers) {
  auto job = job_of(1, R"({"cleanPodPolicy": "Never", "ps": {"replicas": 1,
    "template": {"spec": {"containers": [{"name": "c"}]}}}})");
  auto server = pod(0);
  server.meta.key.name = "resnet-ps-0";
  server.meta.uid = "ps-uid";
  const auto plan = desired(job, {.pods = {server, pod(0, PodPhase::kSucceeded)}}, kNow);
  EXPECT_EQ(only<SetStatus>(plan).at(0).status.phase, "Completed");
  EXPECT_EQ(only<SetStatus>(plan).at(0).status.mode, "PS");
  ASSERT_EQ(only<DeletePod>(plan).size(), 1u);
  EXPECT_EQ(only<DeletePod>(plan)[0].uid, "ps-uid");
}

TEST(PaddleJobPlan, TheCleaningVectorsOfTheContract) {
  const struct {
    const char* policy;
    bool after_success, after_failure;
  } cases[] = {{R"({})", true, false},
               {R"({"cleanPodPolicy":"Always"})", true, true},
               {R"({"cleanPodPolicy":"OnCompletion"})", true, false},
               {R"({"cleanPodPolicy":"OnFailure"})", false, true},
               {R"({"cleanPodPolicy":"Never"})", false, false},
               {R"({"cleanPodPolicy":"OnFailed"})", false, false}};
  for (const auto& c : cases) {
    const auto cleans = [&](PodPhase phase) {
      return !only<DeletePod>(desired(job_of(1, c.policy), {.pods = {pod(0, phase)}}, kNow))
                  .empty();
    };
    EXPECT_EQ(cleans(PodPhase::kSucceeded), c.after_success) << c.policy;
    EXPECT_EQ(cleans(PodPhase::kFailed), c.after_failure) << c.policy;
  }
}

TEST(PaddleJobPlan, AFinishedJobNeverCreatesAnything) {
  for (const char* phase : {"Completed", "Failed"}) {
    auto job = job_of(2);
    job.status.phase = phase;
    for (const auto& action : desired(job, World{}, kNow)) {
      EXPECT_TRUE(std::holds_alternative<SetStatus>(action));
    }
  }
}

TEST(PaddleJobPlan, ADeletedJobOnlyLosesTheFinalizerOfOlderOperators) {
  auto job = job_of(3);
  job.meta.deleted = kNow;
  EXPECT_EQ(desired(job, World{}, kNow), Plan{});
  job.meta.finalizers = {"other", kFinalizer};
  EXPECT_EQ(desired(job, World{}, kNow), Plan{DropFinalizer{}});
}

TEST(PaddleJobPlan, WaitsForItsSamplesAndSaysSo) {
  auto job = job_of(2, R"({"sampleSetRef": {"name": "imagenet", "mountPath": "/data"}})");
  const auto plan = desired(job, World{}, kNow);
  EXPECT_TRUE(only<CreatePod>(plan).empty());
  const auto status = only<SetStatus>(plan).at(0).status;
  const auto* ready = api::find_condition(status.conditions, "Ready");
  ASSERT_NE(ready, nullptr);
  EXPECT_EQ(ready->reason, "SampleSetMissing");

  api::SampleSet set;
  set.status.phase = "Syncing";
  EXPECT_TRUE(only<CreatePod>(desired(job, {.sample_set = set}, kNow)).empty());
  set.status.phase = "Ready";
  EXPECT_EQ(only<CreatePod>(desired(job, {.sample_set = set}, kNow)).size(), 2u);
  // Once it runs, the set's troubles are no longer a reason to hold it.
  set.status.phase = "PartialReady";
  EXPECT_EQ(only<CreatePod>(desired(job, {.pods = {pod(0)}, .sample_set = set}, kNow)).size(), 1u);
}

TEST(PaddleJobPlan, DoesNotDependOnTheOrderOfPods) {
  EXPECT_EQ(desired(job_of(2), {.pods = {pod(0), pod(1), pod(2)}}, kNow),
            desired(job_of(2), {.pods = {pod(2), pod(1), pod(0)}}, kNow));
}

// A model of the cluster small enough to trust: it does as told, and like the real server it stamps
// what it stores with a uid and gives new pods an address.
void play(const Plan& plan, api::PaddleJob& job, World& world) {
  const Match step{
      [&](const CreatePod& a) {
        auto& born = world.pods.emplace_back(pod(0));
        born.meta.key = a.key;
        born.meta.annotations.clear();
        born.meta.uid = "born-" + std::to_string(world.pods.size());
        born.ip = "10.1.0." + std::to_string(world.pods.size());
      },
      [&](const DeletePod& a) {
        std::erase_if(world.pods, [&](const auto& p) { return p.meta.uid == a.uid; });
      },
      [&](const PutRendezvous& a) {
        EXPECT_EQ(a.replaces.empty(), !world.rendezvous.has_value());
        world.rendezvous = RendezvousMap{.meta = {.resource_version = "7"}, .data = a.data};
      },
      [&](const ReleasePod& a) {
        for (auto& p : world.pods) {
          if (p.meta.uid == a.uid) p.meta.annotations[kReleaseAnnotation] = a.value;
        }
      },
      [&](const SetStatus& a) { job.status = a.status; },
      [&](const DropFinalizer&) { job.meta.finalizers.clear(); },
  };
  for (const Action& action : plan) std::visit(step, action);
}

TEST(PaddleJobPlan, SettlesFromAnyStartingPoint) {
  for (int workers = 1; workers <= 4; ++workers) {
    for (unsigned present = 0; present < 64; ++present) {  // any subset of six old pods
      auto job = job_of(workers);
      World world;
      for (int rank = 0; rank < 6; ++rank) {
        if (present >> rank & 1u) world.pods.push_back(pod(rank));
      }
      for (int round = 0; round < 4; ++round) play(desired(job, world, kNow), job, world);

      EXPECT_EQ(desired(job, world, kNow), Plan{})
          << "workers=" << workers << " present=" << present;
      EXPECT_EQ(job.status.phase, "Running");
      EXPECT_EQ(job.status.worker->running, workers);
      EXPECT_EQ(world.rendezvous->data.at("PADDLE_TRAINERS_NUM"), std::to_string(workers));
    }
  }
}

}  // namespace
}  // namespace paddle::controllers
