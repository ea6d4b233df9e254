// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/owned_objects.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/paddle_job/objects/pod.h"
#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

using std::chrono::seconds;

TEST(OwnedObjects, EveryMissingPodIsCreatedInOneWave) {
  const auto job = ps_job();
  const auto plan = plan_for(job, world_of({pending(job, kWorker, 1)}));
  EXPECT_EQ(created(plan), (Names{"demo-ps-0", "demo-ps-1", "demo-worker-0"}));
  EXPECT_EQ(plan.waves.size(), 1u);
}

TEST(OwnedObjects, B21_FiveHundredWorkersAreOneWave) {
  const auto job = workers(500, R"({"intranet": "Service"})");
  const auto plan = plan_for(job, {});
  ASSERT_EQ(plan.waves.size(), 1u);
  EXPECT_EQ(plan.waves[0].size(), 1000u);
}

TEST(OwnedObjects, AMissingPodOfAJobThatHasBegunIsConfirmedWhateverThePhase) {
  auto job = workers(2, R"({"intranet": "Service"})");
  job.status = status_after(job, world_of(all_of(job, pending)));
  ASSERT_EQ(job.status.phase, "Pending");
  EXPECT_FALSE(confirms_pods(plan_for(job, world_of({pending(job, kWorker, 0)}))));
  EXPECT_TRUE(confirms_pods(plan_for(job, published(job, {running(job, kWorker, 0)}))));
}

TEST(OwnedObjects, ScalingDownBeforeTheStartDeletesTheHighestIndexByUid) {
  const auto job = workers(1);
  const auto plan = plan_for(job, world_of({pending(job, kWorker, 0), pending(job, kWorker, 1)}));
  ASSERT_EQ(only<Delete>(plan).size(), 1u);
  EXPECT_EQ(only<Delete>(plan)[0].uid, "demo-worker-1@0");
}

TEST(OwnedObjects, ADeletedPodIsCheckedAgainOnlyWhenItsDeletionTimeIsKnown) {
  auto job = workers(1);
  job.status.epoch = 1;
  auto old = running(job, kWorker, 0);
  old.meta.annotations[kEpochAnnotation] = "0";
  old.meta.deleted = kSoonGone;
  EXPECT_FALSE(plan_for(job, world_of({old})).requeue_after);
  old.meta.deleted = kNow + std::chrono::seconds{30};
  EXPECT_EQ(plan_for(job, world_of({old})).requeue_after, std::chrono::seconds{45});
}

TEST(OwnedObjects, B14_APodOnADeadNodeIsDeletedByForce) {
  auto job = workers(1);
  auto dead = running(job, kWorker, 0);
  dead.meta.deleted = kNow - seconds{20};
  job.status.epoch = 1;
  auto world = world_of({dead});
  EXPECT_EQ(leases_read(plan_for(job, world)), std::set<std::string>{"node-0"});
  world.node_leases["node-0"] = {.renewed = kNow - seconds{5}};
  EXPECT_TRUE(only<Delete>(plan_for(job, world)).empty());
  world.node_leases["node-0"] = {.renewed = kNow - seconds{50}};
  ASSERT_EQ(only<Delete>(plan_for(job, world)).size(), 1u);
  EXPECT_TRUE(only<Delete>(plan_for(job, world))[0].force);
}

TEST(OwnedObjects, B24_EverythingIsLabelledAndServicesAreDeletedWithTheirPods) {
  auto job = workers(1, R"({"intranet": "Service"})");
  EXPECT_EQ(
      service_for(job, replica_groups(job.spec).front(), 0)["metadata"]["labels"][kJobNameLabel],
      "demo");
  EXPECT_EQ(peer_config_map(job, {})["metadata"]["labels"][kJobNameLabel], "demo");
  auto world = world_of({pending(job, kWorker, 0)});
  world.services = {{.meta = {.key = {"t", "demo-worker-0"}, .uid = "a"}},
                    {.meta = {.key = {"t", "demo-worker-1"}, .uid = "b"}}};
  EXPECT_EQ(deleted(plan_for(job, world), OwnedKind::kService), Names{"demo-worker-1"});
}

World with_services(std::vector<api::Pod> pods) {
  World world = world_of(std::move(pods));
  for (const char* name : {"demo-worker-0", "demo-worker-1"}) {
    world.services.push_back({.meta = {.key = {"t", name}, .uid = name}});
  }
  return world;
}

// Found by walks: a suspended or blocked job kept the Services of the run before, also when its
// spec had none any more.
TEST(OwnedObjects, AJobThatWaitsWithoutPodsHasNoServices) {
  const Names both{"demo-worker-0", "demo-worker-1"};
  const auto deletions = [](const api::PaddleJob& job, std::vector<api::Pod> pods) {
    return deleted(plan_for(job, with_services(std::move(pods))), OwnedKind::kService);
  };
  auto suspended = workers(2, R"({"intranet": "Service", "suspend": true})");
  suspended.status.phase = "Suspended";
  suspended.status.epoch = 1;
  auto ending = running(suspended, kWorker, 0);
  ending.meta.annotations[kEpochAnnotation] = "0";
  EXPECT_EQ(deletions(suspended, {ending}), Names{});  // its program may still use them
  EXPECT_EQ(deletions(suspended, {}), both);

  const auto invalid = workers(2, R"({"intranet": "Service", "sampleSetRef": {"name": "absent"}})");
  EXPECT_EQ(reason(status_after(invalid, {})), "InvalidSpec");
  EXPECT_EQ(deletions(invalid, {}), both);
  EXPECT_EQ(deletions(invalid, {running(invalid, kWorker, 0)}), Names{});
  const auto without_set = workers(2, R"({"intranet": "Service",
      "sampleSetRef": {"name": "absent", "mountPath": "/data"}})");
  EXPECT_EQ(reason(status_after(without_set, {})), "SampleSetMissing");
  EXPECT_EQ(deletions(without_set, {}), both);
  EXPECT_EQ(deletions(without_set, {pending(without_set, kWorker, 0)}), Names{});
  EXPECT_EQ(deletions(workers(2, R"({"intranet": "Service"})"), {}), Names{});
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
