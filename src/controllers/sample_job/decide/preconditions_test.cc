// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/decide/preconditions.h"

#include <gtest/gtest.h>

#include "controllers/sample_job/testing/plan_fixture.h"

namespace paddle::controllers::sample_job {
namespace {

using namespace std::chrono_literals;

TEST(SampleJobPreconditions, WaitsForMissingObjectsAndContinuesWhenTheyAppear) {
  JobModel model;
  const World whole = model.world;
  model.world = {};
  model.settle();
  EXPECT_EQ(model.reason(), "ErrorSampleSetNotExist");
  EXPECT_EQ(model.job.status.phase, "Pending");
  model.world.set = set_of(2, "Bound");
  model.settle();
  EXPECT_EQ(model.reason(), "WaitingForSampleSet");
  model.world.set = set_of(2);
  model.settle();
  EXPECT_EQ(model.message(), "waiting for the runtimes of partition 0, 1");
  model.world.reports = {whole.reports[0], {.partition = 1, .error = "no answer"}};
  model.settle();
  EXPECT_EQ(model.message(), "waiting for the runtimes of partition 1");
  model.world = whole;
  model.job.spec.secret = api::SecretReference{.name = "keys"};
  model.world.secret_exists = false;
  model.settle();
  EXPECT_EQ(model.reason(), "ErrorSecretNotExist");
  EXPECT_TRUE(model.requested.empty());
  model.world.secret_exists = true;
  model.settle();
  EXPECT_EQ(model.requested.size(), 2u);
  EXPECT_EQ(model.events, (std::vector<std::string>{"ErrorSampleSetNotExist", "ErrorSecretNotExist",
                                                    "CreateWarmupJobSuccessfully"}));
}

TEST(SampleJobPreconditions, ASyncWaitsForTheFirstSyncOfItsSet) {
  JobModel model{.job = job_of("sync"), .world = world_of(3, true)};
  model.world.set->status.phase = "Syncing";
  model.world.set->status.sync = api::SharedSync{};
  model.settle();
  EXPECT_EQ(model.reason(), "WaitingForSampleSet");
  EXPECT_TRUE(model.requested.empty());
  model.world.set->status.sync.reset();
  model.settle();
  EXPECT_EQ(model.requested.size(), 3u);
}

TEST(SampleJobPreconditions, OnASharedVolumeSyncsRunOneAtATime) {
  JobModel model{.job = job_of("sync"), .world = world_of(3, true)};
  model.world.siblings = {
      {.name = "a", .kind = runtime::JobKind::kSync, .created = kNow - 1s, .sent = true}};
  model.settle();
  EXPECT_EQ(model.reason(), "Queued");
  model.world = world_of(1, true);
  model.world.siblings = {
      {.name = "a", .kind = runtime::JobKind::kSync, .created = kNow - 1s, .sent = true}};
  model.settle();
  EXPECT_EQ(model.reason(), "Starting");
}

TEST(SampleJobPreconditions, AMoveOfALongQueueDoesNotWriteEveryWaitingJob) {
  JobModel model{.job = job_of("warmup")};
  const auto queue = [&](int count) {
    model.world.siblings.clear();
    for (int i = 0; i < count; ++i) {
      model.world.siblings.push_back(
          {.name = "a", .kind = runtime::JobKind::kWarmup, .created = kNow - 1s, .sent = i < 4});
    }
  };
  int writes = 0;
  for (int count = 180; count > 3; --count) {
    queue(count);
    if (!is_empty(model.pass())) ++writes;
    EXPECT_EQ(model.reason(), "Queued");
  }
  EXPECT_EQ(writes, 3);
  EXPECT_EQ(model.message(), "fewer than 10 jobs of this type are ahead");
}

}  // namespace
}  // namespace paddle::controllers::sample_job
