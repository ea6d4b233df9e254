// SPDX-License-Identifier: Apache-2.0
//
// An operator is killed after each of its writes, once per run, and another one goes on, at once or
// after its runtimes have gone further. The end is that of a run without a kill, and no runtime
// gets another job than in that run.

#include <set>

#include <gtest/gtest.h>

#include "controllers/sample_job/testing/plan_fixture.h"

namespace paddle::controllers::sample_job {
namespace {

using runtime::JobState;
using std::chrono::seconds;

constexpr int kPasses = 40;
constexpr int kNever = -1;

struct Kill {
  int pass = kNever;
  std::size_t writes = 0;
  int missed = 0;  // passes of the next operator
};

// Each runtime ends one job in every third pass.
void work(JobModel& model, int pass) {
  for (PartitionReport& each : model.world.reports) {
    if (!each.job || runtime::ended(each.job->state)) continue;
    if (model.world.shares_volume && model.job.spec.type == "sync") {
      each.job->progress.cut = "cut-" + model.job.status.job_name;
    }
    if ((pass + each.partition) % 3 == 0) each.job->state = JobState::kSucceeded;
  }
}

std::string live(const std::string& type, bool shared, const Kill& kill,
                 std::vector<std::size_t>* writes = nullptr) {
  JobModel model{.job = job_of(type), .world = world_of(3, shared)};
  for (int i = 0; i < kPasses; ++i) {
    const bool away = kill.pass != kNever && i > kill.pass && i <= kill.pass + kill.missed;
    const Plan plan = i == kill.pass ? model.pass(kill.writes)
                      : away         ? model.pass(0)
                                     : model.pass();
    if (writes) writes->push_back(actions_of(plan).size() + (plan.status ? 1 : 0));
    work(model, i);
    model.now += seconds(5);
  }
  const std::set<std::string> jobs(model.requested.begin(), model.requested.end());
  std::string text = model.job.status.phase + " " + model.reason() + " failures " +
                     std::to_string(model.job.status.failures) + " jobs";
  for (const std::string& each : jobs) text += " " + each;
  return text;
}

TEST(SampleJobCrashTest, AfterAnyWriteAnotherOperatorReachesTheSameEnd) {
  int points = 0;
  for (const char* type : {"warmup", "clear", "rmr", "sync"}) {
    for (const bool shared : {false, true}) {
      std::vector<std::size_t> writes;
      const std::string expected = live(type, shared, {}, &writes);
      EXPECT_EQ(expected.substr(0, 9), "Succeeded") << type << ": " << expected;
      for (int pass = 0; pass < static_cast<int>(writes.size()); ++pass) {
        for (std::size_t done = 0; done < writes[static_cast<std::size_t>(pass)]; ++done) {
          for (const int missed : {0, 4}) {
            EXPECT_EQ(live(type, shared, {pass, done, missed}), expected)
                << type << ", killed in pass " << pass << " after write " << done << ", " << missed
                << " passes missed";
            ++points;
          }
        }
      }
    }
  }
  std::cout << points << " kills\n";
}

}  // namespace
}  // namespace paddle::controllers::sample_job
