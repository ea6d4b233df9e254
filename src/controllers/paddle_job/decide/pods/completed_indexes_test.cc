// SPDX-License-Identifier: Apache-2.0
//
// Pods that have succeeded and are deleted: the job continues as if they were there.

#include "controllers/paddle_job/decide/pods/completed_indexes.h"

#include "api/json/look.h"
#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

// Of workers, unless the name says otherwise.
api::Pod trainer(const api::PaddleJob& job, int index) { return running(job, kWorker, index); }
api::Pod done(const api::PaddleJob& job, int index) { return exited(job, kWorker, index, 0); }
api::Pod server(const api::PaddleJob& job, int index) { return running(job, kPs, index); }

// The job with the status it has when all its pods run, then when those of `world` are seen.
api::PaddleJob having_seen(api::PaddleJob job, const World& world, const Config& config = {}) {
  job.status = status_after(job, published(job, all_of(job, running)), config);
  job.status = status_after(job, world, config);
  return job;
}
// What is left of `all` when its pods have gone but for `pods`.
World with_pods(World all, std::vector<api::Pod> pods) {
  all.pods = world_of(std::move(pods)).pods;
  return all;
}

void expect_nothing_happens(const api::PaddleJob& job, const World& world,
                            const Config& config = {}) {
  const Plan plan = plan_for(job, world, config);
  EXPECT_TRUE(plan.waves.empty());
  EXPECT_FALSE(confirms_pods(plan));
  const auto status = plan.status.value_or(job.status);
  EXPECT_EQ(status.epoch, job.status.epoch);
  EXPECT_EQ(status.disruptions, 0);
  EXPECT_EQ(status.phase, "Running");
  ASSERT_TRUE(status.worker);
  EXPECT_EQ(status.worker->succeeded, 1);
  EXPECT_EQ(status.worker->completed_indexes, "0");
  EXPECT_EQ(status.replicas, job.status.replicas);
}

TEST(CompletedIndexes, AreFormattedAsRangesAndParsedAgain) {
  EXPECT_EQ(format_indexes({}), "");
  EXPECT_EQ(format_indexes({false, false}), "");
  EXPECT_EQ(format_indexes({true}), "0");
  EXPECT_EQ(format_indexes({true, true, true, true, false, false, false, true}), "0-3,7");
  for (int bits = 0; bits < 1024; ++bits) {
    std::vector<bool> which;
    for (int i = 0; i < 10; ++i) which.push_back((bits >> i & 1) != 0);
    ASSERT_EQ(parse_indexes(format_indexes(which), 10), which) << bits;
  }
}

TEST(CompletedIndexes, IgnoreWhatIsNoIndex) {
  EXPECT_EQ(parse_indexes("0,5-9,1", 3), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(parse_indexes("1-999999999", 3), (std::vector<bool>{false, true, true}));
  for (const char* odd : {",", "-", "-1", "1-", "a", "1-b", "2-1", "99999999999999", "1 ", "0x1"}) {
    EXPECT_EQ(parse_indexes(odd, 3), (std::vector<bool>{false, false, false})) << odd;
  }
  EXPECT_TRUE(parse_indexes("0-3", 0).empty());
  EXPECT_TRUE(parse_indexes("0-3", -1).empty());
}

TEST(CompletedIndexes, AreStoredInTheStatusWithinASecond) {
  auto job = workers(3);
  const World all = published(job, all_of(job, running));
  job.status = status_after(job, all);
  EXPECT_EQ(job.status.worker->completed_indexes, "");
  const Plan plan = plan_for(job, with_pods(all, {done(job, 0), trainer(job, 1), done(job, 2)}));
  ASSERT_TRUE(plan.status);
  EXPECT_EQ(plan.status->worker->completed_indexes, "0,2");
  EXPECT_EQ(plan.status_delay, std::chrono::seconds{1});
  World busy = with_pods(all, {done(job, 0), trainer(job, 1), done(job, 2)});
  busy.busy = true;
  EXPECT_EQ(plan_for(job, busy).status_delay, std::chrono::seconds{1}) << "however many jobs wait";
  job.status = *plan.status;
  const auto same = plan_for(job, with_pods(all, {done(job, 0), trainer(job, 1), done(job, 2)}));
  EXPECT_FALSE(same.status);
}

TEST(CompletedIndexes, MakeTheDeletionOfACompletedPodHarmless) {
  for (const char* spec : {"{}", R"({"intranet": "Service"})", R"({"intranet": "Host"})"}) {
    SCOPED_TRACE(spec);
    auto job = ps_job(spec);
    if (job.spec.intranet == "Host") job = with_port(job, 35000);
    World all = published(job, all_of(job, running));
    if (job.spec.intranet == "Service") {
      for (const PodPtr& pod : all.pods) all.services.push_back({.meta = pod->meta});
    }
    job = having_seen(
        job, with_pods(all, {server(job, 0), server(job, 1), done(job, 0), trainer(job, 1)}));
    const World gone = with_pods(all, {server(job, 0), server(job, 1), trainer(job, 1)});
    expect_nothing_happens(job, gone);
    job.status = status_after(job, gone);
    expect_nothing_happens(job, gone);
    EXPECT_EQ(job.status.worker->refs.size(), 1u);

    const World last = with_pods(all, {server(job, 0), server(job, 1), done(job, 1)});
    EXPECT_EQ(status_after(job, last).phase, "Completed");
    EXPECT_EQ(status_after(job, last).worker->completed_indexes, "0-1");
  }
}

TEST(CompletedIndexes, MakeTheDeletionOfACompletedPodOfAnElasticJobHarmless) {
  const Config config{.etcd = {"http://e:2379"}};
  auto job = workers(2, R"({"elastic": 1})");
  const auto elastic = [](api::Pod pod) {
    pod.init_containers.clear();
    return pod;
  };
  job.status =
      status_after(job, world_of({elastic(trainer(job, 0)), elastic(trainer(job, 1))}), config);
  job.status =
      status_after(job, world_of({elastic(done(job, 0)), elastic(trainer(job, 1))}), config);
  expect_nothing_happens(job, world_of({elastic(trainer(job, 1))}), config);
  EXPECT_EQ(status_after(job, world_of({elastic(done(job, 1))}), config).phase, "Completed");

  // Fewer replicas, then more again: the user wants the worker back.
  job.spec.worker->replicas = 3;
  job.status = status_after(
      job, world_of({elastic(trainer(job, 0)), elastic(trainer(job, 1)), elastic(done(job, 2))}),
      config);
  EXPECT_EQ(job.status.worker->completed_indexes, "0,2");
  job.spec.worker->replicas = 2;
  job.status = status_after(job, world_of({elastic(trainer(job, 1))}), config);
  EXPECT_EQ(job.status.worker->completed_indexes, "0");
  job.spec.worker->replicas = 3;
  const Plan more = plan_for(job, world_of({elastic(trainer(job, 1))}), config);
  EXPECT_TRUE(confirms_pods(more));
  EXPECT_EQ(created(more), Names{"demo-worker-2"});
}

TEST(CompletedIndexes, OfTasksAreStoredByName) {
  auto job = job_with(R"({"mode": "Custom", "tasks": [{"name": "worker", "replicas": 1},
                                                      {"name": "b", "replicas": 2}]})");
  const auto pod_of = [&](const char* task, int index, bool over_now) {
    api::Pod pod = over_now ? done(job, index) : trainer(job, index);
    pod.meta.key.name = std::string("demo-") + task + "-" + std::to_string(index);
    return pod;
  };
  const World all =
      published(job, {pod_of("worker", 0, false), pod_of("b", 0, false), pod_of("b", 1, false)});
  job.status = status_after(job, all);
  job.status = status_after(job, with_pods(all, {pod_of("worker", 0, false), pod_of("b", 0, false),
                                                 pod_of("b", 1, true)}));
  EXPECT_EQ(job.status.tasks.at("b").completed_indexes, "1");
  const World gone = with_pods(all, {pod_of("worker", 0, false), pod_of("b", 0, false)});
  const Plan plan = plan_for(job, gone);
  EXPECT_TRUE(plan.waves.empty());
  ASSERT_TRUE(plan.status);
  EXPECT_EQ(plan.status->epoch, 0);
  EXPECT_EQ(plan.status->phase, "Running");
  EXPECT_EQ(plan.status->tasks.at("b").succeeded, 1);
}

TEST(CompletedIndexes, MakeTheDrainOfACompletedPodHarmless) {
  auto job = workers(2);
  const World all = published(job, all_of(job, running));
  job = having_seen(job, with_pods(all, {done(job, 0), trainer(job, 1)}));
  api::Pod leaving = done(job, 0);
  leaving.meta.deleted = kNow;
  leaving.disrupted = true;
  expect_nothing_happens(job, with_pods(all, {leaving, trainer(job, 1)}));
}

// A program that is stopped may exit with 0 although its work is not done.
TEST(CompletedIndexes, DoNotIncludeAPodThatSucceedsWhileItIsDeleted) {
  api::Pod stopped = done(workers(2), 0);
  stopped.meta.deleted = kNow;
  auto job = workers(2);
  job.status = status_after(job, published(job, all_of(job, running)));
  const World all = published(job, all_of(job, running));
  EXPECT_EQ(status_after(job, with_pods(all, {stopped, trainer(job, 1)})).epoch, 1);

  auto service = workers(2, R"({"intranet": "Service"})");
  World there = published(service, all_of(service, running));
  for (const PodPtr& pod : there.pods) there.services.push_back({.meta = pod->meta});
  service = having_seen(service, with_pods(there, {stopped, trainer(service, 1)}));
  EXPECT_EQ(service.status.worker->completed_indexes, "");
  EXPECT_EQ(created(plan_for(service, with_pods(there, {trainer(service, 1)}))),
            Names{"demo-worker-0"});
  service.status = status_after(service, with_pods(there, {trainer(service, 0), done(service, 1)}));
  const auto last = status_after(service, with_pods(there, {stopped, done(service, 1)}));
  EXPECT_EQ(last.phase, "Running") << "one was stopped, and its work is not done";
}

TEST(CompletedIndexes, IncludeAPodThatIsOnlyMarkedForEviction) {
  auto job = workers(2);
  const World all = published(job, all_of(job, running));
  api::Pod marked = done(job, 0);
  marked.disrupted = true;
  job = having_seen(job, with_pods(all, {marked, trainer(job, 1)}));
  expect_nothing_happens(job, with_pods(all, {trainer(job, 1)}));
}

TEST(CompletedIndexes, AreClearedByARestart) {
  auto job = workers(2, R"({"backoffLimit": 1})");
  const World all = published(job, all_of(job, running));
  job = having_seen(job, with_pods(all, {done(job, 0), trainer(job, 1)}));
  job.status = status_after(job, with_pods(all, {exited(job, kWorker, 1, 3)}));
  EXPECT_EQ(job.status.epoch, 1);
  EXPECT_EQ(job.status.failures, 1);
  EXPECT_TRUE(completed_indexes_of(job.status).groups.empty());
  EXPECT_EQ(created(plan_for(job, world_of({}))), (Names{"demo-worker-0", "demo-worker-1"}));
}

TEST(CompletedIndexes, DoNotExcuseTheLossOfAnotherPod) {
  auto job = workers(3);
  const World all = published(job, all_of(job, running));
  job = having_seen(job, with_pods(all, {done(job, 0), trainer(job, 1), trainer(job, 2)}));
  const Plan plan = plan_for(job, with_pods(all, {trainer(job, 2)}));
  EXPECT_TRUE(confirms_pods(plan));
  ASSERT_TRUE(plan.status);
  EXPECT_EQ(plan.status->epoch, 1);
  EXPECT_EQ(reason(*plan.status), "PodLost");
  api::Pod moved = trainer(job, 1);
  moved.ip = "10.9.9.9";
  EXPECT_EQ(reason(status_after(job, with_pods(all, {moved, trainer(job, 2)}))), "AddressChanged");
}

TEST(CompletedIndexes, AreClearedByASuspensionEvenWhenNoPodIsLeft) {
  const Config config{.etcd = {"http://e:2379"}};
  auto job = workers(2, R"({"elastic": 1})");
  job.status.phase = "Running";
  job.status.worker = api::RoleStatus{.succeeded = 1, .completed_indexes = "0"};
  job.spec.suspend = true;
  job.status = status_after(job, world_of({}), config);
  EXPECT_EQ(job.status.phase, "Suspended");
  EXPECT_EQ(job.status.epoch, 1);
  job.spec.suspend = false;
  EXPECT_EQ(created(plan_for(job, world_of({}), config)),
            (Names{"demo-worker-0", "demo-worker-1"}));
}

TEST(CompletedIndexes, ThatOnlyThisOperatorKnowsAreStoredFirst) {
  auto job = workers(2, R"({"intranet": "Service"})");
  World all = published(job, all_of(job, running));
  job.status = status_after(job, all);
  World gone = with_pods(all, {trainer(job, 1)});
  gone.last_completed = {.epoch = 0, .groups = {{"worker", "0"}}};
  const Plan plan = plan_for(job, gone);
  EXPECT_TRUE(stores_first(plan));
  EXPECT_TRUE(plan.waves.empty());
  ASSERT_TRUE(plan.status);
  EXPECT_EQ(plan.status->worker->completed_indexes, "0");
  EXPECT_EQ(plan.status->epoch, 0);

  gone.last_completed.epoch = 1;  // of a later run than this job is in: none of its business
  EXPECT_EQ(created(plan_for(job, gone)), Names{"demo-worker-0"});
}

TEST(CompletedIndexes, MakeAnOutdatedPodHarmless) {
  auto job = workers(2);
  const World all = published(job, all_of(job, running));
  job = having_seen(job, with_pods(all, {done(job, 0), trainer(job, 1)}));
  expect_nothing_happens(job, all);
}

TEST(CompletedIndexes, DoNotDelayTheReleaseOfOtherPods) {
  auto job = job_with(R"({"worker": {"replicas": 2}, "heter": {"replicas": 1}})");
  const World all = published(job, {trainer(job, 0), trainer(job, 1), coordinated(job, kHeter, 0)});
  job.status.phase = "Starting";
  job.status.worker = api::RoleStatus{.succeeded = 1, .completed_indexes = "0"};
  const std::vector<api::Pod> others{trainer(job, 1), coordinated(job, kHeter, 0)};
  EXPECT_EQ(released(plan_for(job, with_pods(all, others))), Names{"demo-heter-0"});

  // Unless the ConfigMap was deleted: then the address of the first pod is not known any more.
  World without_map = with_pods(all, others);
  without_map.peer_config.reset();
  const Plan lost = plan_for(job, without_map);
  EXPECT_TRUE(lost.waves.empty());
  ASSERT_TRUE(lost.status);
  EXPECT_EQ(reason(*lost.status), "PodLost");
  EXPECT_EQ(lost.status->epoch, 1);
}

TEST(CompletedIndexes, ReduceTheGang) {
  const Config volcano{.scheduling = kVolcano};
  auto job = workers(3, R"({"schedulingPolicy": {"minAvailable": 3}})");
  World all = published(job, all_of(job, running));
  all.pod_group = PodGroupSummary{.meta = {.key = job.meta.key}, .phase = "Running"};
  all.pod_group->spec = api::Opaque(api::look(*pod_group_for(job), "spec"));
  all.pod_group->meta.owners = {
      {.kind = "PaddleJob", .name = "demo", .uid = "job-uid", .controller = true}};
  job = having_seen(job, with_pods(all, {done(job, 0), trainer(job, 1), trainer(job, 2)}), volcano);
  const auto patches =
      only<Patch>(plan_for(job, with_pods(all, {trainer(job, 1), trainer(job, 2)}), volcano));
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_EQ((*patches[0].body)["spec"]["minMember"], 2);
}

TEST(CompletedIndexes, OfAFinishedJobStay) {
  auto job = workers(2);
  const World all = published(job, all_of(job, running));
  job = having_seen(job, with_pods(all, {done(job, 0), done(job, 1)}));
  ASSERT_EQ(job.status.phase, "Completed");
  const Plan plan = plan_for(job, world_of({}));
  EXPECT_TRUE(plan.waves.empty());
  EXPECT_EQ(plan.status.value_or(job.status).worker->completed_indexes, "0-1");
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
