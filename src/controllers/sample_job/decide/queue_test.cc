// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/decide/queue.h"

#include <gtest/gtest.h>

#include "controllers/sample_job/testing/plan_fixture.h"

namespace paddle::controllers::sample_job {
namespace {

using namespace std::chrono_literals;
using runtime::JobState;

TEST(SampleJobQueue, JobsOfOneTypeStartInOrderOfCreation) {
  constexpr int kSentAtOnce = 4;
  const auto ahead = [](const std::vector<Sibling>& siblings) {
    return ahead_of(job_of(), siblings, kSentAtOnce, /*shares_volume=*/true);
  };
  const auto sibling = [](const char* name, std::chrono::seconds age, bool sent,
                          runtime::JobKind kind = runtime::JobKind::kWarmup) {
    return Sibling{.name = name, .kind = kind, .created = kNow - age, .sent = sent};
  };
  EXPECT_EQ(ahead({}), 0);
  EXPECT_EQ(ahead({sibling("a", 1s, false)}), 1);
  EXPECT_EQ(ahead({sibling("a", 1s, false, runtime::JobKind::kSync)}), 0);
  EXPECT_EQ(ahead({sibling("z", 0s, false)}), 0);
  EXPECT_EQ(ahead({sibling("a", 0s, false)}), 1);
  Sibling stuck = sibling("a", 1s, false);
  stuck.blocked_alone = true;
  EXPECT_EQ(ahead({stuck}), 0);
  std::vector<Sibling> many;
  for (int i = 0; i < kSentAtOnce; ++i) many.push_back(sibling("s", 5s, true));
  EXPECT_EQ(ahead(many), kSentAtOnce);
  many.pop_back();
  EXPECT_EQ(ahead(many), 0);
}

TEST(SampleJobQueue, SyncsAndRemovalsOfASharedVolumeGoOneAfterTheOther) {
  const auto sibling = [](runtime::JobKind kind, std::chrono::seconds age, bool sent) {
    return Sibling{.name = "other", .kind = kind, .created = kNow - age, .sent = sent};
  };
  const auto ahead = [](const char* type, const Sibling& other, bool shares_volume = true) {
    auto job = job_of();
    job.spec.type = type;
    return ahead_of(job, {other}, /*at_once=*/4, shares_volume);
  };
  using enum runtime::JobKind;
  EXPECT_EQ(ahead("rmr", sibling(kSync, 1s, true)), 1) << "a sync that runs";
  EXPECT_EQ(ahead("rmr", sibling(kSync, 1s, false)), 1) << "an older sync that waits";
  EXPECT_EQ(ahead("rmr", sibling(kSync, -1s, false)), 0) << "a younger sync that waits";
  EXPECT_EQ(ahead("sync", sibling(kRemove, 1s, true)), 1);
  EXPECT_EQ(ahead("sync", sibling(kRemove, 1s, false)), 1);
  EXPECT_EQ(ahead("rmr", sibling(kSync, 1s, true), /*shares_volume=*/false), 0)
      << "each runtime orders its own";
  EXPECT_EQ(ahead("rmr", sibling(kWarmup, 1s, true)), 0);
  EXPECT_EQ(ahead("warmup", sibling(kSync, 1s, true)), 0);
  Sibling stalled = sibling(kSync, 1s, true);
  stalled.stalled = true;
  EXPECT_EQ(ahead("rmr", stalled), 0) << "only runtimes that are away have not done their part";
}

TEST(SampleJobQueue, AYoungerTerminatingJobCancelsTheOlderAndWaitsForIt) {
  JobModel older;
  older.settle();
  older.reports(0, JobState::kRunning);
  older.world.siblings = {{.name = "new", .created = kNow + 1s, .terminate = true}};
  older.settle();
  EXPECT_EQ(older.job.status.phase, "Failed");
  EXPECT_EQ(older.message("Failed"), "cancelled by samplejob new");
  EXPECT_EQ(older.cancelled.size(), 2u);

  JobModel younger;
  younger.job.meta.created = kNow + 1s;
  younger.job.spec.terminate = true;
  younger.world.siblings = {
      {.name = "old", .kind = runtime::JobKind::kSync, .created = kNow, .sent = true}};
  younger.settle();
  EXPECT_EQ(younger.reason(), "Terminating");
  younger.world.siblings.clear();
  younger.settle();
  EXPECT_EQ(younger.requested.size(), 2u);
  EXPECT_EQ(younger.events, (std::vector<std::string>{"CreateTerminateSuccessfully",
                                                      "CreateWarmupJobSuccessfully"}));
}

TEST(SampleJobQueue, ATerminatingJobOfTheSameSecondCancelsSentJobsAndTheOthersWaitForIt) {
  const auto of = [](const char* name, bool terminate) {
    JobModel model;
    model.job.meta.key.name = name;
    model.job.spec.terminate = terminate;
    return model;
  };
  const auto sibling = [](const char* name, bool terminate, bool sent) {
    return Sibling{.name = name,
                   .kind = runtime::JobKind::kWarmup,
                   .created = kNow,
                   .sent = sent,
                   .terminate = terminate};
  };
  for (const char* stop : {"a-stop", "z-stop"}) {
    JobModel reload = of("reload", false);
    reload.world.siblings = {sibling(stop, true, false)};
    reload.settle();
    EXPECT_EQ(reload.reason(), "Terminating");
    EXPECT_TRUE(reload.requested.empty());
    reload.world.siblings = {sibling(stop, true, true)};
    reload.settle();
    EXPECT_EQ(reload.requested.size(), 2u);

    JobModel runs = of("runs", false);
    runs.settle();
    runs.world.siblings = {sibling(stop, true, false)};
    runs.settle();
    EXPECT_EQ(runs.message("Failed"), "cancelled by samplejob " + std::string(stop));

    JobModel terminator = of(stop, true);
    terminator.world.siblings = {sibling("reload", false, false), sibling("runs", false, true)};
    terminator.settle();
    EXPECT_EQ(terminator.message(), "waiting for 1 older jobs of the set to be cancelled");
    terminator.world.siblings.pop_back();
    terminator.settle();
    EXPECT_EQ(terminator.requested.size(), 2u);
  }
  JobModel first = of("a-stop", true);
  first.world.siblings = {sibling("z-stop", true, false)};
  first.settle();
  EXPECT_EQ(first.message("Failed"), "cancelled by samplejob z-stop");
}

}  // namespace
}  // namespace paddle::controllers::sample_job
