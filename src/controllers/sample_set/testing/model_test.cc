// SPDX-License-Identifier: Apache-2.0
//
// Executes plans on the model through random histories: runtimes fall silent, nodes are lost,
// operators crash between two actions, Secrets and partitions change, objects are deleted.
// Afterwards the set is Ready, and no property of plan.h was violated.

#include <gtest/gtest.h>

#include "base/random.h"
#include "controllers/sample_set/testing/model_cluster.h"

namespace paddle::controllers::sample_set {
namespace {

using std::chrono::seconds;

// Under a sanitizer each takes four times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kHistories = 10;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr std::uint64_t kHistories = 10;
#else
constexpr std::uint64_t kHistories = 40;
#endif
#else
constexpr std::uint64_t kHistories = 40;
#endif

void disturb(ModelCluster& model, Random& random) {
  const int partition = static_cast<int>(random.below(3));
  const std::string node = "node-" + std::to_string(random.below(6));
  switch (random.below(18)) {
    case 0:
      return model.silence(partition, seconds(random.below(40)));
    case 1:
      return model.lose_node(node);
    case 2:
      return model.heal_node(node);
    case 3:
      return model.lose_journal(partition);
    case 4:
      return model.clear_cache(partition);
    case 5:
      return model.repartition(static_cast<int>(1 + random.below(4)));
    case 6:
      if (model.world.secret) {
        model.put_secret("s/" + std::to_string(random.below(1000)), {{"metaurl", "redis://x"}});
      }
      return;
    case 7:
      if (model.world.secret) model.world.secret->exists = !model.world.secret->exists;
      return;
    case 8:
      model.warm_error = random.below(2) == 0 ? "no" : "";
      return;
    case 9:
      model.format_error = random.below(2) == 0 ? "no" : "";
      return;
    case 10:
      if (random.below(2) == 0) model.world.service.reset();
      if (random.below(2) == 0) model.world.credentials.reset();
      return;
    case 11:
      return model.lose_cache(node);
    default:
      return;  // most of the time nothing happens
  }
}

void heal(ModelCluster& model) {
  model.sync_error = model.warm_error = model.format_error = "";
  for (int i = 0; i < 6; ++i) model.heal_node("node-" + std::to_string(i));
  for (int i = 0; i < 4; ++i) model.silence(i, seconds(0));
  if (model.world.secret) model.put_secret("s/last", {{"metaurl", "redis://x"}});
}

bool settles(ModelCluster& model) {
  for (int round = 0; round < 60; ++round) {
    if (is_empty(model.settle(4)) && model.set.status.phase == "Ready") return true;
    model.now += seconds(700);  // longer than any delay
  }
  return false;
}

class SampleSetModel : public ::testing::TestWithParam<bool> {};

TEST_P(SampleSetModel, DisturbedSetsSettleAndViolateNoProperty) {
  for (std::uint64_t seed = 0; seed < kHistories; ++seed) {
    Random random(seed * 7919 + 1);
    ModelCluster model(model_set(static_cast<int>(1 + seed % 3), GetParam()));
    for (int step = 0; step < 120; ++step) {
      if (random.below(4) == 0) {
        model.pass_and_crash(random.below(4));
      } else {
        model.pass();
      }
      disturb(model, random);
      model.now += seconds(2);
      ASSERT_EQ(model.violation, "") << "seed " << seed << " step " << step;
    }
    heal(model);
    ASSERT_TRUE(settles(model)) << "seed " << seed << ": " << model.condition("Ready").message;
    EXPECT_EQ(model.violation, "") << "seed " << seed;
    EXPECT_EQ(model.world.node_labels.size(), static_cast<size_t>(model.set.spec.partitions));
    EXPECT_EQ(model.condition("Degraded").status, "False");
    model.deleted = true;
    model.settle();
    EXPECT_FALSE(model.world.volume || model.world.claim || model.world.runtimes ||
                 model.world.token || model.world.credentials || model.world.policy)
        << "seed " << seed;
    EXPECT_TRUE(model.world.node_labels.empty()) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, SampleSetModel, ::testing::Bool());

}  // namespace
}  // namespace paddle::controllers::sample_set
