// SPDX-License-Identifier: Apache-2.0
//
// An operator is killed after each of its writes, once per run, and another one goes on, at once or
// after everything around it has changed further. The end is that of a run without a kill.

#include <gtest/gtest.h>

#include "controllers/sample_set/testing/model_cluster.h"

namespace paddle::controllers::sample_set {
namespace {

using std::chrono::seconds;

constexpr int kPasses = 24;  // before the event, and after it
constexpr int kNever = -1;

struct Event {
  const char* name;
  void (*happen)(ModelCluster& model);
};
const Event kEvents[] = {
    {"nothing", [](ModelCluster&) {}},
    {"repartitioned", [](ModelCluster& model) { model.repartition(3); }},
    {"smaller", [](ModelCluster& model) { model.repartition(1); }},
    {"node lost", [](ModelCluster& model) { model.lose_node(model.node_of(0)); }},
    {"journal lost", [](ModelCluster& model) { model.lose_journal(0); }},
    {"cleared", [](ModelCluster& model) { model.clear_cache(0); }},
    {"cache lost", [](ModelCluster& model) { model.lose_cache(model.node_of(1)); }},
    {"new keys",
     [](ModelCluster& model) {
       if (model.world.secret) model.put_secret("s/9", {{"metaurl", "redis://x"}});
     }},
    {"service deleted", [](ModelCluster& model) { model.world.service.reset(); }},
    {"deleted", [](ModelCluster& model) { model.deleted = true; }},
};

// Where the first operator is killed: in which pass, after how many writes of it. The next one
// misses so many passes.
struct Kill {
  int pass = kNever;
  std::size_t writes = 0;
  int missed = 0;
};

std::string describe(const ModelCluster& model) {
  const World& world = model.world;
  std::string text = model.deleted ? "deleted" : model.set.status.phase;
  for (const api::Condition& each : model.set.status.conditions) {
    text += " " + each.type + "=" + each.status + "/" + each.reason;
  }
  text += " partitions";
  for (const auto& each : model.set.status.partitions) {
    text += " " + std::to_string(each.index) + (each.ready ? "+" : "-") +
            std::to_string(each.cached_bytes) + each.uncached_reason;
  }
  text += " labels " + std::to_string(world.node_labels.size()) + " pods " +
          std::to_string(world.pods.size()) + " objects";
  for (const OwnedKind kind : kOwnedKinds) text += find_owned(world, kind) ? "+" : "-";
  return text;
}

// Returns the end; `writes`: how many each pass made.
std::string live(bool shared, const Event& event, const Kill& kill,
                 std::vector<std::size_t>* writes = nullptr) {
  ModelCluster model(model_set(2, shared));
  int missed = kill.missed;
  for (int i = 0; i < 3 * kPasses; ++i) {
    if (i == kPasses) event.happen(model);
    model.now += i < 2 * kPasses ? seconds(2) : seconds(700);
    if (i == kill.pass) {
      model.pass_and_crash(kill.writes);
    } else if (kill.pass != kNever && i > kill.pass && missed > 0) {
      --missed;
      model.pass_and_crash(0);
    } else {
      const Plan plan = model.pass();
      if (writes) writes->push_back(actions_of(plan).size() + (plan.status ? 1 : 0));
    }
  }
  EXPECT_EQ(model.violation, "");
  return describe(model);
}

class SampleSetCrashTest : public ::testing::TestWithParam<bool> {};

TEST_P(SampleSetCrashTest, AfterAnyWriteAnotherOperatorReachesTheSameEnd) {
  int points = 0;
  for (const Event& event : kEvents) {
    std::vector<std::size_t> writes;
    const std::string expected = live(GetParam(), event, {}, &writes);
    for (int pass = 0; pass < static_cast<int>(writes.size()); ++pass) {
      for (std::size_t done = 0; done < writes[static_cast<std::size_t>(pass)]; ++done) {
        for (const int missed : {0, 3}) {
          EXPECT_EQ(live(GetParam(), event, {pass, done, missed}), expected)
              << event.name << ", killed in pass " << pass << " after write " << done << ", "
              << missed << " passes missed";
          ++points;
          if (HasFailure()) return;
        }
      }
    }
  }
  std::cout << (GetParam() ? "shared volume" : "volumes of their own") << ": " << points
            << " kills\n";
}

INSTANTIATE_TEST_SUITE_P(Engines, SampleSetCrashTest, ::testing::Bool());

}  // namespace
}  // namespace paddle::controllers::sample_set
