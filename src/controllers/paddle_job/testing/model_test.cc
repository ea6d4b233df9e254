// SPDX-License-Identifier: Apache-2.0
//
// Plans executed against a model of the cluster, from many starting points: operators that see
// late, that are killed between two actions, and pods that fail, move and vanish. Each test case is
// one shape of a job with one seed, so that a test run can be sharded and a failure be repeated
// alone.

#include <tuple>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/paddle_job/testing/model_cluster.h"
#include "controllers/paddle_job/testing/model_shapes.h"
#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

using std::chrono::seconds;

constexpr std::uint64_t kSeeds = 12;

// What an operator sees: everything, everything a little late, or also not what another operator
// did.
enum class Vision { kSharp, kLate, kForeign };

// The plan of one operator, executed until it is killed. True: it did something.
bool operate(ModelCluster& cluster, const Config& config, Random& random, Vision vision) {
  const bool careless = vision != Vision::kSharp;
  const bool foreign = vision == Vision::kForeign;
  api::PaddleJob job = cluster.job(careless ? random.below(3) : 0, foreign);
  World world = cluster.world(careless ? random.below(3) : 0, foreign);
  Plan plan = desired(job, world, config, cluster.now());
  for (int round = 0; !plan.queries.empty(); ++round) {
    EXPECT_LT(round, 5) << "a plan has queries without end";
    if (round == 5) return false;
    job = cluster.answer(plan.queries, job, world);
    plan = desired(job, world, config, cluster.now());
  }
  if (stores_first(plan)) return cluster.store_status(job, *plan.status);
  const bool dies = careless && random.below(4) == 0;
  bool acted = false;
  for (const Wave& wave : plan.waves) {
    for (const Action& action : wave) {
      if (dies && random.below(2) == 0) return true;  // killed here
      acted = true;
      if (!cluster.execute(action, job)) return true;
    }
  }
  if (plan.status && !dies) acted |= cluster.store_status(job, *plan.status);
  return acted;
}

void disrupt(ModelCluster& cluster, Random& random) {
  switch (random.below(16)) {
    case 0:
      return cluster.fail_one(random);
    case 1:
      return cluster.evict_one(random);
    case 2:
      return cluster.delete_one(random);
    case 3:
      return cluster.move_one(random);
    case 4:
      return cluster.edit([&](api::PaddleJobSpec& spec) {
        const int replicas = static_cast<int>(1 + random.below(4));
        if (spec.worker) spec.worker->replicas = replicas;
        if (!spec.tasks.empty()) spec.tasks[random.below(spec.tasks.size())].replicas = replicas;
      });
    case 5:
      return cluster.edit([&](api::PaddleJobSpec& spec) { spec.suspend = !spec.suspend; });
    case 6:
      return cluster.crash_one(random);
    case 7:
      return cluster.edit_templates(random);
    case 8:
      if (random.below(4) == 0) cluster.request_restart();
      return;
    default:
      return;  // most of the time nothing happens
  }
}

// Pods succeed one after another, and are deleted.
void finish_and_remove(ModelCluster& cluster, Random& random, bool stored) {
  if (random.below(8) == 0) cluster.finish_one(random);
  if (random.below(4) == 0) cluster.remove_finished(random, stored);
}

// Until there is nothing left to do. False: it does not end.
bool settle(ModelCluster& cluster, const Config& config, Random& random) {
  for (int round = 0; round < 2'000; ++round) {
    const bool operated = operate(cluster, config, random, Vision::kSharp);
    const bool progressed = cluster.progress(random);
    if (!operated && !progressed) {
      cluster.advance(seconds{400});  // longer than any pause of the plan
      if (!operate(cluster, config, random, Vision::kSharp) && !cluster.progress(random)) {
        return true;
      }
    }
  }
  return false;
}

// Or so long ago that the job was deleted.
bool completed(const ModelCluster& cluster) {
  return cluster.job().status.phase == "Completed" || cluster.job().meta.deleting();
}

void run_undisturbed(const Shape& shape, std::uint64_t seed) {
  const Config config = config_of(shape);
  Random random(seed);
  ModelCluster cluster(job_of(shape));
  ASSERT_TRUE(settle(cluster, config, random));
  EXPECT_EQ(cluster.job().status.phase, "Running");
  EXPECT_EQ(cluster.pods_made(), total_replicas(cluster.job().spec));
  EXPECT_EQ(cluster.gang_size().has_value(), !config.scheduling.empty());
  cluster.end_programs();
  ASSERT_TRUE(settle(cluster, config, random));
  EXPECT_TRUE(completed(cluster)) << cluster.job().status.phase;
  EXPECT_FALSE(cluster.any_program_runs());
  EXPECT_EQ(cluster.pods_made(), total_replicas(cluster.job().spec));
  EXPECT_EQ(cluster.broken_promise(), "");
}

// Pods succeed and are deleted, and nothing else happens. Returns how many were gone at most while
// the job was not complete.
int run_with_departures(const Shape& shape, std::uint64_t seed) {
  const Config config = config_of(shape);
  const Vision vision = seed % 2 == 0 ? Vision::kLate : Vision::kForeign;
  int departed = 0;
  Random random(seed * 6007 + 5);
  ModelCluster cluster(job_of(shape), vision == Vision::kForeign);
  for (int step = 0; step < 120; ++step) {
    if (random.below(3) != 0) operate(cluster, config, random, vision);
    if (random.below(3) != 0) cluster.progress(random);
    finish_and_remove(cluster, random, true);
    departed = std::max(departed, completed(cluster) ? 0 : cluster.departed());
    cluster.advance(seconds{1});
    EXPECT_EQ(cluster.broken_promise(), "") << "step " << step;
    if (!cluster.broken_promise().empty()) return departed;
  }
  cluster.end_programs();
  EXPECT_TRUE(settle(cluster, config, random));
  EXPECT_TRUE(completed(cluster)) << cluster.job().status.phase;
  EXPECT_EQ(cluster.job().status.epoch, 0);
  EXPECT_EQ(cluster.pods_made(), total_replicas(cluster.job().spec));
  EXPECT_EQ(cluster.broken_promise(), "");
  return departed;
}

enum class Endings { kAtTheEnd, kAtAnyTime };

// An edit of the templates waits until a restart is requested, then every pod has the last one.
void restart_outdated(ModelCluster& cluster, const Config& config, Random& random) {
  if (cluster.outdated() == 0) return;
  const int made = cluster.pods_made();
  EXPECT_TRUE(settle(cluster, config, random));
  EXPECT_EQ(cluster.pods_made(), made) << "the edit did not wait";
  cluster.request_restart();
  EXPECT_TRUE(settle(cluster, config, random));
  EXPECT_EQ(cluster.outdated(), 0);
  EXPECT_EQ(cluster.job().status.phase, "Running");
}

void finish_running(ModelCluster& cluster, const Config& config, Random& random, bool early) {
  restart_outdated(cluster, config, random);
  EXPECT_TRUE(early || cluster.departed() == 0);
  const int expected = total_replicas(cluster.job().spec) - cluster.departed();
  EXPECT_EQ(cluster.pods(), static_cast<size_t>(expected));
  if (const auto size = cluster.gang_size()) {
    EXPECT_EQ(*size, expected);
  }
  cluster.end_programs();
  EXPECT_TRUE(settle(cluster, config, random));
  EXPECT_TRUE(completed(cluster)) << cluster.job().status.phase;
}

// Returns whether the job ran or completed in spite of the disruptions.
bool run_disrupted(const Shape& shape, Vision vision, std::uint64_t seed,
                   Endings endings = Endings::kAtTheEnd) {
  const bool early = endings == Endings::kAtAnyTime;
  const Config config = config_of(shape);
  Random random(seed * 7919 + 1);
  ModelCluster cluster(job_of(shape), vision == Vision::kForeign);
  for (int step = 0; step < 100; ++step) {
    if (random.below(3) != 0) operate(cluster, config, random, vision);
    if (random.below(3) != 0) cluster.progress(random);
    if (step > 10) disrupt(cluster, random);
    if (early) finish_and_remove(cluster, random, false);
    cluster.advance(seconds{2});
    EXPECT_EQ(cluster.broken_promise(), "") << "step " << step;
    if (!cluster.broken_promise().empty()) return false;
  }
  cluster.edit([](api::PaddleJobSpec& spec) { spec.suspend = false; });
  EXPECT_TRUE(settle(cluster, config, random));
  const std::string phase = cluster.job().status.phase;
  EXPECT_TRUE(phase == "Running" || phase == "Failed" || cluster.job().meta.deleting() ||
              (early && phase == "Completed"))
      << phase;
  if (phase == "Running") finish_running(cluster, config, random, early);
  EXPECT_FALSE(cluster.gang_size()) << "an ended job keeps resources reserved";
  const int made = cluster.pods_made();
  EXPECT_TRUE(settle(cluster, config, random));
  EXPECT_EQ(cluster.pods_made(), made) << "pods were created after the end";
  if (!cluster.job().meta.deleting()) {
    EXPECT_FALSE(cluster.any_program_runs()) << "programs run after the end";
  }
  EXPECT_EQ(cluster.broken_promise(), "");
  return phase == "Running" || phase == "Completed";
}

// ---- one case per shape and seed ----

class ModelTest : public ::testing::TestWithParam<std::tuple<Shape, std::uint64_t>> {
 protected:
  static const Shape& shape() { return std::get<0>(GetParam()); }
  static std::uint64_t seed() { return std::get<1>(GetParam()); }
};

TEST_P(ModelTest, UndisturbedJobsRunAndComplete) { run_undisturbed(shape(), seed()); }

TEST_P(ModelTest, PodsThatSucceedAndAreDeletedStayDone) { run_with_departures(shape(), seed()); }

TEST_P(ModelTest, DisruptedJobsSettleAndKeepEveryPromise) {
  run_disrupted(shape(), Vision::kLate, seed());
}

TEST_P(ModelTest, DisruptedJobsSettleWhenTheOperatorDoesNotSeeWhatAnotherOneDid) {
  run_disrupted(shape(), Vision::kForeign, 1'000 + seed());
}

TEST_P(ModelTest, DisruptedJobsSettleWhenPodsSucceedAndAreDeletedAtAnyTime) {
  run_disrupted(shape(), Vision::kLate, 2'000 + seed(), Endings::kAtAnyTime);
}

TEST_P(ModelTest, DisruptedJobsSettleWhenPodsSucceedUnseenByTheOperator) {
  run_disrupted(shape(), Vision::kForeign, 3'000 + seed(), Endings::kAtAnyTime);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ModelTest,
                         ::testing::Combine(::testing::ValuesIn(kShapes),
                                            ::testing::Range<std::uint64_t>(0, kSeeds)),
                         [](const auto& param_info) {
                           return std::string(std::get<0>(param_info.param).name) + "_seed_" +
                                  std::to_string(std::get<1>(param_info.param));
                         });

// ---- the cases above teach something: one case per shape, over the same seeds ----

class ModelCoverageTest : public ::testing::TestWithParam<Shape> {
 protected:
  static bool any_seed(const std::function<bool(std::uint64_t)>& test) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      if (test(seed)) return true;
    }
    return false;
  }
};

TEST_P(ModelCoverageTest, SomePodIsDeletedAfterItsSuccessAndBeforeTheEndOfTheJob) {
  if (replicas_of(job_of(GetParam()).spec, RoleKind::kWorker) <= 1) return;
  EXPECT_TRUE(
      any_seed([](std::uint64_t seed) { return run_with_departures(GetParam(), seed) > 0; }));
}

TEST_P(ModelCoverageTest, SomeDisruptedJobRunsToItsEnd) {
  const struct {
    Vision vision;
    std::uint64_t first_seed;
    Endings endings;
  } cases[] = {{Vision::kLate, 0, Endings::kAtTheEnd},
               {Vision::kForeign, 1'000, Endings::kAtTheEnd},
               {Vision::kLate, 2'000, Endings::kAtAnyTime},
               {Vision::kForeign, 3'000, Endings::kAtAnyTime}};
  for (const auto& c : cases) {
    EXPECT_TRUE(any_seed([&](std::uint64_t seed) {
      return run_disrupted(GetParam(), c.vision, c.first_seed + seed, c.endings);
    })) << "too many disruptions, from seed "
        << c.first_seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ModelCoverageTest, ::testing::ValuesIn(kShapes),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

}  // namespace
}  // namespace paddle::controllers::paddle_job
