// SPDX-License-Identifier: Apache-2.0
//
// An operator is killed after each of its writes, once per run, and another one goes on. The end is
// that of a run without a kill, and no runtime gets another job than in that run. The next operator
// begins with the present state, late, with an older view, or by executing its first plan twice.

#include <set>

#include <gtest/gtest.h>

#include "controllers/sample_job/testing/plan_fixture.h"

namespace paddle::controllers::sample_job {
namespace {

using runtime::JobState;
using std::chrono::seconds;

constexpr int kPasses = 40;
constexpr int kNever = -1;

enum class Begins { kAtOnce, kLate, kWithAnOldView, kTwice };
constexpr Begins kBegins[] = {Begins::kAtOnce, Begins::kLate, Begins::kWithAnOldView,
                              Begins::kTwice};
constexpr int kMissed = 4;  // passes of one that begins late

struct Kill {
  int pass = kNever;
  std::size_t writes = 0;
  Begins next = Begins::kAtOnce;
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
    const bool next = kill.pass != kNever && i == kill.pass + 1;
    const int missed = kill.next == Begins::kLate ? kMissed : 0;
    if (next && kill.next == Begins::kWithAnOldView) {
      model.pass_late(2 + kill.writes % 3);  // 1 is the present
    } else if (next && kill.next == Begins::kTwice) {
      model.pass_late(0, 2);
    } else {
      const bool away = kill.pass != kNever && i > kill.pass && i <= kill.pass + missed;
      const Plan plan = i == kill.pass ? model.pass(kill.writes)
                        : away         ? model.pass(0)
                                       : model.pass();
      if (writes) writes->push_back(actions_of(plan).size() + (plan.status ? 1 : 0));
    }
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
          for (const Begins next : kBegins) {
            EXPECT_EQ(live(type, shared, {pass, done, next}), expected)
                << type << ", killed in pass " << pass << " after write " << done
                << ", the next one begins " << static_cast<int>(next);
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
