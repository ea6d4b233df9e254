// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/reconciler.h"

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "controllers/sample_set/deletion.h"
#include "controllers/sample_set/hand.h"
#include "controllers/sample_set/view.h"

namespace paddle::controllers {
namespace {

using namespace sample_sets;
using kube::ObjectKey;
namespace kinds = kube::resources;

constexpr std::chrono::milliseconds kLook{10'000};
constexpr std::chrono::milliseconds kSoon{200};

class SampleSetReconciler {
 public:
  SampleSetReconciler(const Surroundings& around, const SampleSetOptions& options,
                      const Clock& clock)
      : cluster_(around.cluster),
        options_(options),
        clock_(clock),
        view_(around, options, clock),
        hand_(around.cluster, around.events, view_, options, clock) {}

  Result<Outcome> reconcile(const ObjectKey& key, std::stop_token stop) {
    const kube::Call call{.timeout = kLook, .stop = stop};
    const auto seen = view_.find(key);
    auto left = end_ghosts(key, seen ? seen->meta.uid : "", call);
    if (!left) return std::move(left).error().in("what is left of sampleset " + to_string(key));
    if (!seen) {
      view_.forget(key);
      return left;
    }
    auto outcome = drive(*seen, call);
    if (!outcome) return std::move(outcome).error().in("sampleset " + to_string(key));
    return sooner(*left, *outcome);
  }

 private:
  static Outcome sooner(const Outcome& a, const Outcome& b) {
    if (!a.again_after || !b.again_after) return a.again_after ? a : b;
    return *a.again_after < *b.again_after ? a : b;
  }

  Result<Outcome> drive(api::SampleSet set, const kube::Call& call) {
    TRY(auto seen, view_.world_of(set, call));
    if (!seen) return Outcome{.again_after = kSoon};
    // A second round when something of ours could not be made: it says so in the status.
    for (int round = 0; round < 2; ++round) {
      const Plan plan = desired(set, *seen, options_.setting, clock_.wall());
      std::optional<Error> failed;
      TRY(const auto carried, carry_out(plan, set, *seen, failed, call));
      if (carried == Hand::Carried::kSeeAgain) continue;
      if (says_more(*seen)) CHECK_DONE(say_more(plan, set, *seen, call));
      // Nobody comes back to a set by itself after that one.
      if (failed && failed->code != Code::kInvalid) return *std::move(failed);
      return Outcome{.again_after = plan.again_after};
    }
    return Error{Code::kConflict, "names are taken"};
  }

  // `failed`: the first error that nothing else had to wait for.
  Result<Hand::Carried> carry_out(const Plan& plan, api::SampleSet& set, World& world,
                                  std::optional<Error>& failed, const kube::Call& call) {
    for (const Action& action : plan.actions) {
      // It would say that all was done.
      if (std::holds_alternative<SetStatus>(action) && says_more(world)) continue;
      auto carried = hand_.carry_out(action, set, world, call);
      if (carried) {
        if (*carried == Hand::Carried::kSeeAgain) return carried;
        continue;
      }
      Error error = std::move(carried).error();
      if (error.code == Code::kCancelled || !stands_alone(action)) return error;
      if (is_refusal(error) && world.refused.empty()) world.refused = error.message;
      if (const auto* cancel = std::get_if<CancelJob>(&action)) {
        world.not_cancelled.emplace(cancel->partition, cancel->id);
      }
      if (!failed) failed = std::move(error);
    }
    return Hand::Carried::kDone;
  }

  // What rests on others, or others on it, ends the pass.
  static bool stands_alone(const Action& action) {
    return std::holds_alternative<LabelNode>(action) || std::holds_alternative<PutJob>(action) ||
           std::holds_alternative<CancelJob>(action) ||
           std::holds_alternative<ReplaceRuntime>(action) ||
           std::holds_alternative<SetOwners>(action);
  }

  static bool says_more(const World& world) {
    return !world.refused.empty() || !world.not_cancelled.empty();
  }

  // The status as it is with that, and what is new in it.
  Result<> say_more(const Plan& before, api::SampleSet& set, World& world, const kube::Call& call) {
    const Plan plan = desired(set, world, options_.setting, clock_.wall());
    for (const Action& action : plan.actions) {
      const bool says =
          std::holds_alternative<SetStatus>(action) || std::holds_alternative<Tell>(action);
      if (!says || std::ranges::find(before.actions, action) != before.actions.end()) continue;
      CHECK_DONE(hand_.carry_out(action, set, world, call));
    }
    return Done{};
  }

  Result<Outcome> end_ghosts(const ObjectKey& key, const std::string& living,
                             const kube::Call& call) {
    auto ghosts = view_.ghosts(key, living);
    if (ghosts.empty()) return Outcome{};
    // Our view may be behind: only the server knows that a set is gone.
    const auto there = cluster_.get(kinds::kSampleSets, key, call);
    if (!there && !there.is(Code::kNotFound)) return there.error();
    std::string uid;
    if (there) {
      TRY(const api::Meta meta, api::decode_meta(*there));
      uid = meta.uid;
    }
    Outcome outcome;
    for (api::SampleSet& ghost : ghosts) {
      if (there && (ghost.meta.uid == uid || ghost.meta.uid.empty())) continue;
      TRY(auto world, view_.world_of(ghost, call));
      if (!world) return Outcome{.again_after = kSoon};
      const Plan plan = ending(ghost, *world);
      for (const Action& action : plan.actions) {
        CHECK_DONE(hand_.carry_out(action, ghost, *world, call));
      }
      outcome = sooner(outcome, {.again_after = plan.again_after});
    }
    return outcome;
  }

  kube::Cluster& cluster_;
  const SampleSetOptions options_;
  const Clock& clock_;
  View view_;
  Hand hand_;
};

}  // namespace

Reconcile make_sample_set_reconciler(const Surroundings& around, const SampleSetOptions& options,
                                     const Clock& clock) {
  auto reconciler = std::make_shared<SampleSetReconciler>(around, options, clock);
  return [reconciler](const ObjectKey& key, std::stop_token stop) {
    return reconciler->reconcile(key, stop);
  };
}

}  // namespace paddle::controllers
