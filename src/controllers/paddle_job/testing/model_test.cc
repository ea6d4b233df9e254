// SPDX-License-Identifier: Apache-2.0
//
// Plans played against a model of the cluster, from many starting points: operators that see late,
// are killed between two actions or in the middle of a wave, and pods that fail, move and vanish.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/paddle_job/decide/status.h"
#include "controllers/paddle_job/testing/model_cluster.h"
#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

using std::chrono::seconds;

struct Shape {
  const char* name;
  const char* spec;
  const char* scheduling = "";
  friend void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }
};
const Shape kShapes[] = {
    {"single", R"({"worker": {"replicas": 1}})"},
    {"collective", R"({"worker": {"replicas": 3}})"},
    {"ps", R"({"withGloo": 1, "ps": {"replicas": 2}, "worker": {"replicas": 2}})"},
    {"service", R"({"intranet": "Service", "ps": {"replicas": 1}, "worker": {"replicas": 2}})"},
    {"host", R"({"intranet": "Host", "worker": {"replicas": 2}})"},
    {"patient", R"({"backoffLimit": 4, "disruptionLimit": 9, "worker": {"replicas": 2}})"},
    {"elastic", R"({"elastic": 1, "worker": {"replicas": 3, "requests": 1, "limits": 4}})"},
    {"cleaning", R"({"cleanPodPolicy": "Always", "worker": {"replicas": 2}})"},
    {"heter", R"({"ps": {"replicas": 1}, "worker": {"replicas": 2}, "heter": {"replicas": 2}})"},
    {"tasks", R"({"mode": "PS", "withGloo": 1, "tasks": [{"name": "trainer", "replicas": 2},
        {"name": "ps-1", "replicas": 1}, {"name": "ps", "replicas": 1}]})"},
    {"devices", R"({"mode": "Collective", "tasks": [{"name": "gpu-1", "replicas": 1},
        {"name": "xpu-22", "replicas": 2}]})"},
    {"in_order", R"({"mode": "PS", "startInOrder": 1, "tasks": [{"name": "ps", "replicas": 1},
        {"name": "heter", "replicas": 1}, {"name": "trainer", "replicas": 2}]})"},
    {"alone", R"({"mode": "Custom", "tasks": [{"name": "a", "replicas": 1},
        {"name": "b", "replicas": 2}]})"},
    {"keeping", R"({"cleanPodPolicy": "Never", "ps": {"replicas": 1}, "worker": {"replicas": 2}})"},
    {"fleeting", R"({"ttlSecondsAfterFinished": 5, "worker": {"replicas": 2}})"},
    {"gang", R"({"disruptionLimit": 9, "backoffLimit": 3, "ps": {"replicas": 1},
        "worker": {"replicas": 2}})",
     "volcano"},
};

Config config_of(const Shape& shape) {
  return {.scheduling = shape.scheduling, .etcd = {"http://e:2379"}};
}

api::PaddleJob job_of(const Shape& shape) { return job_with(shape.spec); }

// One operator's plan with what it sees, carried out until it is killed. True: it did something.
enum class Vision { kSharp, kLate, kAnothers };

bool operate(ModelCluster& cluster, const Config& config, Random& random, Vision vision) {
  const bool careless = vision != Vision::kSharp;
  const bool foreign = vision == Vision::kAnothers;
  api::PaddleJob job = cluster.job(careless ? random.below(3) : 0, foreign);
  World world = cluster.world(careless ? random.below(3) : 0, foreign);
  Plan plan = desired(job, world, cluster.now(), config);
  for (const auto& node : plan.nodes_to_check)
    world.node_leases[node] = {.renewed = cluster.now() + seconds{1}};
  if (!plan.nodes_to_check.empty()) plan = desired(job, world, cluster.now(), config);
  if (plan.confirm) {
    job = cluster.job();
    const auto nodes = world.node_leases;
    world = cluster.world();
    world.node_leases = nodes;
    world.confirmed = true;
    plan = desired(job, world, cluster.now(), config);
  }
  if (plan.status_first) return cluster.store_status(job, *plan.status);
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
  switch (random.below(12)) {
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
        const int wished = static_cast<int>(1 + random.below(4));
        if (spec.worker) spec.worker->replicas = wished;
        if (!spec.tasks.empty()) spec.tasks[random.below(spec.tasks.size())].replicas = wished;
      });
    case 5:
      return cluster.edit([&](api::PaddleJobSpec& spec) { spec.suspend = !spec.suspend; });
    default:
      return;  // most of the time nothing happens
  }
}

// Pods succeed one after another, and somebody clears them away.
void finish_and_remove(ModelCluster& cluster, Random& random, bool stored) {
  if (random.below(8) == 0) cluster.finish_one(random);
  if (random.below(4) == 0) cluster.remove_finished(random, stored);
}

// Until nobody has anything to do. False: it does not end.
bool settle(ModelCluster& cluster, const Config& config, Random& random) {
  for (int round = 0; round < 2'000; ++round) {
    const bool operated = operate(cluster, config, random, Vision::kSharp);
    const bool progressed = cluster.progress(random);
    if (!operated && !progressed) {
      cluster.advance(seconds{400});  // longer than any pause or patience of ours
      if (!operate(cluster, config, random, Vision::kSharp) && !cluster.progress(random))
        return true;
    }
  }
  return false;
}

// Or so long ago that it was deleted.
bool completed(const ModelCluster& cluster) {
  return cluster.job().status.phase == "Completed" || cluster.job().meta.deleting();
}

class ModelTest : public ::testing::TestWithParam<Shape> {};

TEST_P(ModelTest, UndisturbedJobsRunAndComplete) {
  const Config config = config_of(GetParam());
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    Random random(seed);
    ModelCluster cluster(job_of(GetParam()));
    ASSERT_TRUE(settle(cluster, config, random)) << seed;
    EXPECT_EQ(cluster.job().status.phase, "Running") << seed;
    EXPECT_EQ(cluster.pods_made(), total_replicas(cluster.job().spec)) << seed;
    EXPECT_EQ(cluster.group_asks().has_value(), !config.scheduling.empty()) << seed;
    cluster.end_programs();
    ASSERT_TRUE(settle(cluster, config, random)) << seed;
    EXPECT_TRUE(completed(cluster)) << seed << ": " << cluster.job().status.phase;
    EXPECT_FALSE(cluster.anybody_runs()) << seed;
    EXPECT_EQ(cluster.pods_made(), total_replicas(cluster.job().spec)) << seed;
    EXPECT_EQ(cluster.broken_promise(), "") << seed;
  }
}

// Nothing but that happens to them: it changes nothing.
TEST_P(ModelTest, PodsThatSucceedAndGoAreDoneForGood) {
  const Config config = config_of(GetParam());
  int left = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Vision vision = seed % 2 == 0 ? Vision::kLate : Vision::kAnothers;
    Random random(seed * 6007 + 5);
    ModelCluster cluster(job_of(GetParam()), vision == Vision::kAnothers);
    for (int step = 0; step < 120; ++step) {
      if (random.below(3) != 0) operate(cluster, config, random, vision);
      if (random.below(3) != 0) cluster.progress(random);
      finish_and_remove(cluster, random, true);
      left = std::max(left, completed(cluster) ? 0 : cluster.departed());
      cluster.advance(seconds{1});
      ASSERT_EQ(cluster.broken_promise(), "") << "seed " << seed << " step " << step;
    }
    cluster.end_programs();
    ASSERT_TRUE(settle(cluster, config, random)) << seed;
    EXPECT_TRUE(completed(cluster)) << seed << ": " << cluster.job().status.phase;
    EXPECT_EQ(cluster.job().status.epoch, 0) << seed;
    EXPECT_EQ(cluster.pods_made(), total_replicas(cluster.job().spec)) << seed;
    EXPECT_EQ(cluster.broken_promise(), "") << seed;
  }
  if (replicas_of(job_of(GetParam()).spec, RoleKind::kWorker) > 1) {
    EXPECT_GT(left, 0) << "nobody went before the end: nothing was learnt";
  }
}

enum class Endings { kAtTheEnd, kAtAnyTime };

void disrupt_and_settle(const Shape& shape, Vision vision, std::uint64_t first_seed,
                        Endings endings = Endings::kAtTheEnd) {
  const bool early = endings == Endings::kAtAnyTime;
  const Config config = config_of(shape);
  int ran = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + 12; ++seed) {
    Random random(seed * 7919 + 1);
    ModelCluster cluster(job_of(shape), vision == Vision::kAnothers);
    for (int step = 0; step < 100; ++step) {
      if (random.below(3) != 0) operate(cluster, config, random, vision);
      if (random.below(3) != 0) cluster.progress(random);
      if (step > 10) disrupt(cluster, random);
      if (early) finish_and_remove(cluster, random, false);
      cluster.advance(seconds{2});
      ASSERT_EQ(cluster.broken_promise(), "") << "seed " << seed << " step " << step;
    }
    cluster.edit([](api::PaddleJobSpec& spec) { spec.suspend = false; });
    ASSERT_TRUE(settle(cluster, config, random)) << "seed " << seed;
    const std::string phase = cluster.job().status.phase;
    EXPECT_TRUE(phase == "Running" || phase == "Failed" || cluster.job().meta.deleting() ||
                (early && phase == "Completed"))
        << "seed " << seed << ": " << phase;
    ran += phase == "Running" || phase == "Completed" ? 1 : 0;
    if (phase == "Running") {
      EXPECT_TRUE(early || cluster.departed() == 0) << "seed " << seed;
      const int there = total_replicas(cluster.job().spec) - cluster.departed();
      EXPECT_EQ(cluster.pods(), static_cast<size_t>(there)) << seed;
      if (const auto asks = cluster.group_asks()) {
        EXPECT_EQ(*asks, there) << "seed " << seed;
      }
      cluster.end_programs();
      ASSERT_TRUE(settle(cluster, config, random)) << "seed " << seed;
      EXPECT_TRUE(completed(cluster)) << "seed " << seed << ": " << cluster.job().status.phase;
    }
    EXPECT_FALSE(cluster.group_asks()) << "seed " << seed << ": an ended job keeps room";
    const int made = cluster.pods_made();
    ASSERT_TRUE(settle(cluster, config, random));
    EXPECT_EQ(cluster.pods_made(), made) << "seed " << seed << ": pods were made after the end";
    EXPECT_EQ(cluster.broken_promise(), "") << "seed " << seed;
  }
  EXPECT_GT(ran, 0) << "the hurts are too many for anything to be learnt";
}

TEST_P(ModelTest, HurtJobsSettleAndKeepEveryPromise) {
  disrupt_and_settle(GetParam(), Vision::kLate, 0);
}

TEST_P(ModelTest, SoTheyDoWhenTheOperatorDoesNotSeeWhatAnotherOneDid) {
  disrupt_and_settle(GetParam(), Vision::kAnothers, 1'000);
}

TEST_P(ModelTest, SoTheyDoWhenPodsSucceedAndGoAtAnyTime) {
  disrupt_and_settle(GetParam(), Vision::kLate, 2'000, Endings::kAtAnyTime);
  disrupt_and_settle(GetParam(), Vision::kAnothers, 3'000, Endings::kAtAnyTime);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ModelTest, ::testing::ValuesIn(kShapes),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

}  // namespace
}  // namespace paddle::controllers::paddle_job
