// SPDX-License-Identifier: Apache-2.0
//
// An operator is killed after each of its writes, once per run, and another one goes on. The end is
// that of a run without a kill. The next operator begins with the present state, with an older one,
// late, or by executing its first plan twice.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/paddle_job/testing/model_cluster.h"
#include "controllers/paddle_job/testing/model_shapes.h"
#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

using std::chrono::seconds;

enum class Begins { kAtOnce, kWithAnOldView, kLate, kTwice };
constexpr Begins kBegins[] = {Begins::kAtOnce, Begins::kWithAnOldView, Begins::kLate,
                              Begins::kTwice};
constexpr long kNever = -1;

struct Event {
  const char* name;
  void (*happen)(ModelCluster& cluster, Random& random);
};
const Event kEvents[] = {
    {"nothing", [](ModelCluster&, Random&) {}},
    {"scaled",
     [](ModelCluster& cluster, Random&) {
       cluster.edit([](api::PaddleJobSpec& spec) {
         if (spec.worker) spec.worker->replicas = 3 - spec.worker->replicas % 2;
         if (!spec.tasks.empty()) spec.tasks.front().replicas += 1;
       });
     }},
    {"edited",
     [](ModelCluster& cluster, Random& random) {
       cluster.edit_templates(random);
       cluster.request_restart();
     }},
    {"suspended",
     [](ModelCluster& cluster, Random&) {
       cluster.edit([](api::PaddleJobSpec& spec) { spec.suspend = true; });
     }},
    {"evicted", [](ModelCluster& cluster, Random& random) { cluster.evict_one(random); }},
    {"failed", [](ModelCluster& cluster, Random& random) { cluster.fail_one(random); }},
    {"finished", [](ModelCluster& cluster, Random& random) { cluster.finish_one(random); }},
};

// A job with its operators, of which the first has so many writes to live.
class KilledRun {
 public:
  KilledRun(const Shape& shape, long writes, Begins begins)
      : config_(config_of(shape)),
        cluster_(job_of(shape), begins == Begins::kWithAnOldView),
        kill_after_(writes),
        left_(writes),
        begins_(begins) {}

  std::string live(const Event& event) {
    settle();
    event.happen(cluster_, events_);
    settle();
    if (event.name == std::string("finished")) cluster_.remove_finished(events_, true);
    cluster_.edit([](api::PaddleJobSpec& spec) { spec.suspend = false; });
    settle();
    std::string end = describe();
    cluster_.end_programs();
    settle();
    EXPECT_EQ(cluster_.broken_promise(), "")
        << event.name << ", killed after write " << kill_after_ << ", the next one begins "
        << static_cast<int>(begins_);
    return end + " | " + describe();
  }
  long written() const { return written_; }
  bool killed() const { return killed_; }

 private:
  bool spend() {
    if (left_ == 0) {
      left_ = kNever;
      killed_ = true;
      return false;
    }
    if (left_ > 0) --left_;
    ++written_;
    return true;
  }

  // One plan for the state of so many changes ago. True: it did something.
  bool operate(size_t ago = 0, int times = 1) {
    api::PaddleJob job = cluster_.job(ago, ago > 0);
    World world = cluster_.world(ago, ago > 0);
    Plan plan = desired(job, world, config_, cluster_.now());
    for (int round = 0; !plan.queries.empty(); ++round) {
      EXPECT_LT(round, 5) << "a plan has queries without end";
      if (round == 5) return false;
      job = cluster_.answer(plan.queries, job, world);
      plan = desired(job, world, config_, cluster_.now());
    }
    bool acted = false;
    for (; times > 0; --times) acted |= execute(plan, job);
    return acted;
  }
  bool execute(const Plan& plan, const api::PaddleJob& job) {
    if (stores_first(plan)) return spend() && cluster_.store_status(job, *plan.status);
    bool acted = false;
    for (const Wave& wave : plan.waves) {
      for (const Action& action : wave) {
        if (!spend()) return true;
        acted = true;
        if (!cluster_.execute(action, job)) return true;
      }
    }
    if (!plan.status) return acted;
    if (!spend()) return true;
    return cluster_.store_status(job, *plan.status) || acted;
  }

  void begin_again() {
    begun_again_ = true;
    const size_t ago = std::min(1 + static_cast<size_t>(written_ % 3), since_pause_);
    if (begins_ == Begins::kWithAnOldView) operate(ago);
    if (begins_ == Begins::kTwice) operate(0, 2);
    for (int i = 0; begins_ == Begins::kLate && i < 6; ++i) cluster_.progress(random_);
  }

  void settle() {
    for (int round = 0; round < 1'000; ++round) {
      bool busy = operate();
      if (killed_ && !begun_again_) {
        begin_again();
        busy = true;
      }
      busy |= cluster_.progress(random_);
      if (busy) {
        ++since_pause_;
        continue;
      }
      cluster_.advance(seconds{400});  // longer than any pause of the plan
      since_pause_ = 0;
      if (!operate() && !cluster_.progress(random_)) return;
    }
    ADD_FAILURE() << "does not settle";
  }

  std::string describe() const {
    const api::PaddleJob job = cluster_.job();
    const api::PaddleJobStatus& status = job.status;
    std::string text =
        status.phase + " epoch " + std::to_string(status.epoch) + " failures " +
        std::to_string(status.failures) + " disruptions " + std::to_string(status.disruptions) +
        " ready " + status.ready + " pods " + std::to_string(cluster_.pods()) + " outdated " +
        std::to_string(cluster_.outdated()) + " departed " + std::to_string(cluster_.departed()) +
        " gang " + std::to_string(cluster_.gang_size().value_or(0));
    for (const auto& [group, indexes] : completed_indexes_of(status).groups) {
      text += " " + group + ":" + indexes;
    }
    for (const api::Condition& each : status.conditions) {
      text += " " + each.type + "=" + each.status + "/" + each.reason;
    }
    return text;
  }

  const Config config_;
  ModelCluster cluster_;
  const long kill_after_;
  long left_;
  const Begins begins_;
  Random random_{11};
  Random events_{5};
  long written_ = 0;
  bool killed_ = false;
  bool begun_again_ = false;
  size_t since_pause_ = 0;  // changes at least; no view is older than a pause of minutes
};

class CrashTest : public ::testing::TestWithParam<Shape> {};

TEST_P(CrashTest, AfterAnyWriteAnotherOperatorReachesTheSameEnd) {
  int points = 0;
  for (const Event& event : kEvents) {
    KilledRun whole(GetParam(), kNever, Begins::kAtOnce);
    const std::string expected = whole.live(event);
    for (long writes = 0; writes < whole.written(); ++writes) {
      for (const Begins begins : kBegins) {
        KilledRun run(GetParam(), writes, begins);
        EXPECT_EQ(run.live(event), expected)
            << event.name << ", killed after write " << writes << ", the next one begins "
            << static_cast<int>(begins);
        EXPECT_TRUE(run.killed());
        ++points;
        if (HasFailure()) return;
      }
    }
  }
  std::cout << GetParam().name << ": " << points << " kills\n";
}

INSTANTIATE_TEST_SUITE_P(Shapes, CrashTest, ::testing::ValuesIn(kShapes),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

}  // namespace
}  // namespace paddle::controllers::paddle_job
