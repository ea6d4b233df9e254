// SPDX-License-Identifier: Apache-2.0
//
// An operator is killed after each of its writes, once per run, and another one goes on. The end is
// that of a run without a kill. The next operator begins with the present state, late, with an
// older view, or by executing its first plan twice.

#include <algorithm>
#include <ostream>
#include <vector>

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

enum class Begins { kAtOnce, kLate, kWithAnOldView, kTwice };
constexpr Begins kBegins[] = {Begins::kAtOnce, Begins::kLate, Begins::kWithAnOldView,
                              Begins::kTwice};
constexpr int kMissed = 3;  // passes of one that begins late

// Where the first operator is killed: in which pass, after how many writes of it.
struct Kill {
  int pass = kNever;
  std::size_t writes = 0;
  Begins next = Begins::kAtOnce;
};

std::ostream& operator<<(std::ostream& out, const Kill& kill) {
  constexpr const char* kNames[] = {"at once", "late", "with an old view", "twice"};
  return out << "killed in pass " << kill.pass << " after write " << kill.writes
             << ", the next one begins " << kNames[static_cast<int>(kill.next)];
}

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

// Pass `i` of a run. Returns how many writes it made.
std::size_t step(ModelCluster& model, const Event& event, const Kill& kill, int i) {
  if (i == kPasses) event.happen(model);
  model.now += i < 2 * kPasses ? seconds(2) : seconds(700);
  const int missed = kill.next == Begins::kLate ? kMissed : 0;
  if (kill.pass == kNever || i > kill.pass + std::max(1, missed)) {
    const Plan plan = model.pass();
    return actions_of(plan).size() + (plan.status ? 1 : 0);
  }
  if (i == kill.pass) {
    model.pass_and_crash(kill.writes);
  } else if (kill.next == Begins::kLate) {
    model.pass_and_crash(0);
  } else if (kill.next == Begins::kWithAnOldView) {
    model.pass_late(2 + kill.writes % 3);  // 1 is the present
  } else if (kill.next == Begins::kTwice) {
    model.pass_late(0, 2);
  } else {
    model.pass();
  }
  return 0;
}

// The end of a run that is killed; `model`: as before the pass of the kill.
std::string live(ModelCluster model, const Event& event, const Kill& kill) {
  for (int i = kill.pass; i < 3 * kPasses; ++i) step(model, event, kill, i);
  EXPECT_EQ(model.violation, "") << event.name << ", " << kill;
  return describe(model);
}

class SampleSetCrashTest : public ::testing::TestWithParam<bool> {};

TEST_P(SampleSetCrashTest, AfterAnyWriteAnotherOperatorReachesTheSameEnd) {
  int points = 0;
  for (const Event& event : kEvents) {
    ModelCluster whole(model_set(2, GetParam()));
    std::vector<ModelCluster> before;  // each pass
    std::vector<std::size_t> writes;
    for (int i = 0; i < 3 * kPasses; ++i) {
      before.push_back(whole);
      writes.push_back(step(whole, event, {}, i));
    }
    EXPECT_EQ(whole.violation, "") << event.name;
    const std::string expected = describe(whole);
    for (std::size_t pass = 0; pass < writes.size(); ++pass) {
      for (std::size_t done = 0; done < writes[pass]; ++done) {
        for (const Begins next : kBegins) {
          const Kill kill{static_cast<int>(pass), done, next};
          EXPECT_EQ(live(before[pass], event, kill), expected) << event.name << ", " << kill;
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
