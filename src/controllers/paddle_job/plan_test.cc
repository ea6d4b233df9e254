// SPDX-License-Identifier: Apache-2.0
//
// The plan as a whole: deleted, suspended and elastic jobs. What one decision does is tested beside
// its file (decide/, spec/, objects/); README.md lists the tests. B8 and the like are the numbers
// under which the defects of the Go operator are listed.

#include "controllers/paddle_job/plan.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::Json;
using std::chrono::seconds;

TEST(PaddleJobPlan, DoesNotDependOnTheOrderOfPods) {
  const auto job = workers(2);
  std::vector<api::Pod> pods{running(job, kWorker, 0), running(job, kWorker, 1),
                             running(job, kWorker, 2)};
  const auto plan = plan_for(job, world_of(pods));
  std::ranges::reverse(pods);
  EXPECT_EQ(plan, plan_for(job, world_of(pods)));
}

TEST(PaddleJobPlan, APodOfALaterEpochMeansThatTheJobIsOutdated) {
  auto job = workers(2);
  auto later = job;
  later.status.epoch = 1;
  EXPECT_EQ(plan_for(job, world_of({pending(later, kWorker, 0)})), Plan{});
}

TEST(PaddleJobPlan, ADeletedJobIsLeftToTheGarbageCollector) {
  auto job = workers(3);
  job.meta.deleted = kNow;
  job.status.phase = "Terminating";
  EXPECT_EQ(plan_for(job, World{}), Plan{});
  job.status.phase = "Running";
  EXPECT_EQ(plan_for(job, World{}).status->phase, "Terminating");
  EXPECT_TRUE(plan_for(job, World{}).waves.empty());
}

TEST(PaddleJobPlan, TheFinalizerOfOlderOperatorsIsRemoved) {
  auto job = workers(1);
  job.meta.finalizers = {"other", kFinalizer};
  EXPECT_EQ(only<RemoveFinalizer>(plan_for(job, World{})).size(), 1u);
  job.meta.deleted = kNow;
  EXPECT_EQ(only<RemoveFinalizer>(plan_for(job, World{})).size(), 1u);
}

TEST(PaddleJobPlan, B8_NothingIsCreatedForADeletedJobFinishedOrNot) {
  for (const char* phase : {"", "Running", "Completed"}) {
    auto job = workers(2);
    job.meta.deleted = kNow;
    job.meta.finalizers = {"foregroundDeletion"};
    job.status.phase = phase;
    EXPECT_TRUE(plan_for(job, {}).waves.empty()) << phase;
  }
}

TEST(PaddleJobPlan, B14_ASuspendedJobHasNoPodsAndContinuesInAnotherEpoch) {
  auto job = workers(2, R"({"suspend": true})");
  EXPECT_EQ(status_after(job, {}).phase, "Suspended");
  EXPECT_TRUE(plan_for(job, {}).waves.empty());

  job.status.phase = "Running";
  auto world = published(job, all_of(job, running));
  const auto plan = plan_for(job, world);
  ASSERT_TRUE(stores_first(plan));
  EXPECT_EQ(plan.status->epoch, 1);
  EXPECT_EQ(plan.status->disruptions + plan.status->failures, 0);
  job.status = *plan.status;
  EXPECT_EQ(deleted(plan_for(job, world)), (Names{"demo-worker-0", "demo-worker-1"}));
  world.pods.clear();
  job.status = status_after(job, world);
  EXPECT_EQ(plan_for(job, world), Plan{});

  job.spec.suspend = false;
  EXPECT_EQ(created(plan_for(job, world)), (Names{"demo-worker-0", "demo-worker-1"}));
  EXPECT_EQ(status_after(job, world).phase, "Pending");
  EXPECT_EQ(reason(status_after(job, world), "Suspended"), "Resumed");
}

TEST(PaddleJobPlan, B11_ElasticJobsFollowTheirReplicasWithoutARestart) {
  const Config config{.etcd = {"http://e:2379"}};
  auto job = workers(3, R"({"elastic": 1, "worker": {"replicas": 3, "requests": 1, "limits": 4}})");
  job.status.phase = "Running";
  auto pods = all_of(job, running);
  for (api::Pod& pod : pods) pod.init_containers.clear();  // elastic pods have no coordinator
  auto world = world_of(pods);
  job.spec.worker->replicas = 1;
  const auto down = plan_for(job, world, config);
  EXPECT_EQ(deleted(down), (Names{"demo-worker-1", "demo-worker-2"}));
  EXPECT_TRUE(reads_etcd(down));
  EXPECT_FALSE(stores_first(down));
  job.spec.worker->replicas = 4;
  world.confirmed = true;
  const auto up = plan_for(job, world, config);
  EXPECT_EQ(created(up), Names{"demo-worker-3"});
  EXPECT_TRUE(created(up, OwnedKind::kConfigMap).empty());
  const Json env = manifest_of(up, "demo-worker-3")["spec"]["containers"][0]["env"];
  EXPECT_NE(env.dump().find(R"("PADDLE_ELASTIC_NP","value":"1:4")"), std::string::npos) << env;
}

TEST(PaddleJobPlan, B11_AJobThatBeganWithoutAnEtcdIsElasticOnlyAfterARestart) {
  const Config config{.etcd = {"http://e:2379"}};
  auto job = workers(2, R"({"elastic": 1})");
  const auto waiting = plan_for(job, world_of(all_of(job, coordinated)), config);
  EXPECT_EQ(released(waiting).size(), 2u) << "its pods wait for a release, and for no etcd";
  EXPECT_FALSE(reads_etcd(waiting));

  auto world = published(job, all_of(job, running));
  job.status = status_after(job, world, config);
  EXPECT_EQ(plan_for(job, world, config), Plan{});
  EXPECT_EQ(reason(job.status, "Warning"), "CheckSpec");
  world.pods.pop_back();
  world.confirmed = true;
  const auto lost = plan_for(job, world, config);
  ASSERT_TRUE(stores_first(lost)) << "no elastic pod joins a run of ordinary ones";
  EXPECT_EQ(lost.status->epoch, 1);
  job.status = *lost.status;
  world.pods.clear();
  const auto restarted = plan_for(job, world, config);
  EXPECT_EQ(created(restarted).size(), 2u);
  EXPECT_TRUE(reads_etcd(restarted));
  EXPECT_FALSE(manifest_of(restarted, "demo-worker-0")["spec"].contains("initContainers"));
}

TEST(PaddleJobPlan, NoElasticPodJoinsPodsOfThePreviousEpoch) {
  const Config config{.etcd = {"http://e:2379"}};
  auto job = workers(2, R"({"elastic": 1})");
  auto left = running(job, kWorker, 1);
  left.init_containers.clear();
  left.meta.deleted = kNow;
  job.status.epoch = 1;
  job.status.phase = "Restarting";
  auto world = world_of({left});
  world.confirmed = true;
  EXPECT_TRUE(created(plan_for(job, world, config)).empty());
  world.pods.clear();
  EXPECT_EQ(created(plan_for(job, world, config)), (Names{"demo-worker-0", "demo-worker-1"}));
}

TEST(PaddleJobPlan, B11_NoElasticPodIsCreatedBeforeEtcdIsClean) {
  const Config config{.etcd = {"http://e:2379"}};
  auto job = workers(2, R"({"elastic": 1})");
  World world;
  world.elastic.leftovers = ElasticState::Leftovers::kPossible;
  const auto plan = plan_for(job, world, config);
  EXPECT_EQ(only<CleanElasticState>(plan).size(), 1u);
  EXPECT_TRUE(created(plan).empty());
  EXPECT_EQ(reason(*plan.status), "EtcdUnavailable");
  auto one = running(job, kWorker, 0);
  one.init_containers.clear();
  world.pods = world_of({one}).pods;  // made by an operator that was killed: etcd is in use
  EXPECT_TRUE(only<CleanElasticState>(plan_for(job, world, config)).empty());
  EXPECT_EQ(created(plan_for(job, world, config)), Names{"demo-worker-1"});
  EXPECT_TRUE(only<CleanElasticState>(plan_for(workers(2), world, config)).empty());
}

TEST(PaddleJobPlan, TheNumberOfTrainersInEtcdIsWrittenWhenItDiffersAndOncePerPass) {
  const Config config{.etcd = {"http://e:2379"}};
  const auto job = workers(2, R"({"elastic": 1})");
  World world;
  EXPECT_TRUE(reads_etcd(plan_for(job, world, config)));
  world.elastic.replicas = StoredReplicas{.revision = 0};
  const auto plan = plan_for(job, world, config);
  EXPECT_TRUE(plan.queries.empty());
  const WriteElasticReplicas expected{.value = "2", .revision = 0};
  ASSERT_FALSE(plan.waves.empty());
  EXPECT_EQ(plan.waves[0], (Wave{expected})) << "before the pods, and without an event at first";
  EXPECT_EQ(created(plan).size(), 2u);

  world.elastic.replicas = StoredReplicas{.value = "2", .revision = 7};
  EXPECT_TRUE(only<WriteElasticReplicas>(plan_for(job, world, config)).empty());
  world.elastic.replicas = StoredReplicas{.value = "3"};  // written by this pass
  EXPECT_TRUE(only<WriteElasticReplicas>(plan_for(job, world, config)).empty());
}

TEST(PaddleJobPlan, AnotherNumberOfTrainersIsAnEventUnlessEtcdWasJustCleaned) {
  const Config config{.etcd = {"http://e:2379"}};
  auto job = workers(2, R"({"elastic": 1})");
  job.status.phase = "Running";
  World world;
  world.confirmed = true;
  world.elastic.replicas = StoredReplicas{.value = "3", .revision = 7};
  const auto event = [&] {
    const auto writes = only<WriteElasticReplicas>(plan_for(job, world, config));
    EXPECT_EQ(writes.size(), 1u);
    return writes.empty() || !writes[0].event ? std::string() : writes[0].event->message;
  };
  EXPECT_EQ(event(), "scaled replicas to 2");
  world.elastic.leftovers = ElasticState::Leftovers::kRemoved;
  EXPECT_EQ(event(), "");
}

TEST(PaddleJobPlan, AnUnreachableEtcdBlocksOnlyTheFirstPods) {
  const Config config{.etcd = {"http://e:2379"}};
  const auto job = workers(2, R"({"elastic": 1})");
  World world;
  world.elastic.reachable = false;
  const auto later = plan_for(job, world, config);
  EXPECT_TRUE(later.queries.empty());
  EXPECT_EQ(created(later).size(), 2u);
  world.elastic.leftovers = ElasticState::Leftovers::kPossible;
  const auto first = plan_for(job, world, config);
  EXPECT_TRUE(first.waves.empty());
  EXPECT_EQ(reason(*first.status), "EtcdUnavailable");
}

TEST(PaddleJobPlan, AnElasticJobWhoseIdAnotherJobHasWaitsAndTouchesNoKey) {
  const Config config{.etcd = {"http://e:2379"}};
  const auto job = workers(2, R"({"elastic": 1})");
  World world;
  world.elastic.leftovers = ElasticState::Leftovers::kPossible;
  world.elastic.id_owner = "other/job";
  const auto plan = plan_for(job, world, config);
  EXPECT_TRUE(plan.waves.empty());
  EXPECT_FALSE(reads_etcd(plan));
  EXPECT_EQ(reason(*plan.status), "NameTaken");
  EXPECT_TRUE(plan.requeue_after);
  EXPECT_EQ(created(plan_for(workers(2), world, config)).size(), 2u) << "another kind of job";
  world.elastic.id_owner.clear();
  EXPECT_EQ(only<CleanElasticState>(plan_for(job, world, config)).size(), 1u);
}

TEST(PaddleJobPlan, TheKeysOfAnElasticJobThatEndsAreRemovedBeforeItsObjects) {
  const Config config{.etcd = {"http://e:2379"}};
  auto job = workers(1, R"({"elastic": 1, "cleanPodPolicy": "Always"})");
  job.status.phase = "Completed";
  auto world = world_of({exited(job, kWorker, 0, 0)});
  EXPECT_TRUE(only<ForgetElasticState>(plan_for(job, world, config)).empty());
  world.elastic.to_be_removed = true;
  const auto plan = plan_for(job, world, config);
  ASSERT_EQ(plan.waves.size(), 2u);
  EXPECT_EQ(plan.waves[0], Wave{ForgetElasticState{}});
  EXPECT_EQ(deleted(plan).size(), 1u);
}

TEST(PaddleJobPlan, LeasesAreReadBeforePodsAreConfirmedAndEtcdIsReadLast) {
  const Config config{.etcd = {"http://e:2379"}};
  auto job = workers(2, R"({"elastic": 1})");
  job.status.phase = "Running";
  auto overdue = running(job, kWorker, 1);
  overdue.init_containers.clear();
  overdue.meta.deleted = kNow - seconds{20};
  job.spec.worker->replicas = 3;
  auto world = world_of({overdue});
  EXPECT_EQ(plan_for(job, world, config).queries, std::vector<Query>{ReadNodeLease{"node-1"}});
  world.node_leases["node-1"] = {.renewed = kNow};
  EXPECT_EQ(plan_for(job, world, config).queries, std::vector<Query>{ConfirmPods{}});
  world.confirmed = true;
  EXPECT_EQ(plan_for(job, world, config).queries, std::vector<Query>{ReadElasticReplicas{}});
  world.elastic.replicas = StoredReplicas{.value = "3", .revision = 1};
  EXPECT_TRUE(plan_for(job, world, config).queries.empty());
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
