// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/reconciler.h"

#include <algorithm>
#include <optional>
#include <set>

#include <nlohmann/json.hpp>

#include "base/log.h"
#include "controllers/loop/rejection.h"
#include "controllers/sample_set/decide/deletion.h"
#include "controllers/sample_set/decide/object_updates.h"
#include "controllers/sample_set/execute/plan_executor.h"
#include "controllers/sample_set/execute/rejected_writes.h"
#include "controllers/sample_set/observe/world_observer.h"

namespace paddle::controllers::sample_set {
namespace {

using kube::ObjectKey;
namespace kinds = kube::resources;

constexpr std::chrono::milliseconds kLook{10'000};
constexpr std::chrono::milliseconds kSoon{200};

class Reconciler {
 public:
  Reconciler(const ControllerContext& around, const Options& options, const Clock& clock)
      : cluster_(around.cluster),
        options_(options),
        clock_(clock),
        observer_(around, options, clock),
        executor_(around.cluster, around.events, observer_, options, clock) {}

  Result<ReconcileResult> reconcile(const ObjectKey& key, std::stop_token stop) {
    const kube::Call call{.timeout = kLook, .stop = stop};
    const auto seen = observer_.find(key);
    auto left = end_orphans(key, seen ? seen->meta.uid : "", call);
    if (!left) return std::move(left).error().in("what is left of sampleset " + to_string(key));
    if (!seen) {
      observer_.forget(key);
      if (!left->requeue_after) rejected_.forget(key);
      return left;
    }
    auto outcome = requeue_rejected(drive(*seen, call), "sampleset " + to_string(key));
    if (!outcome) return std::move(outcome).error().in("sampleset " + to_string(key));
    return sooner(*left, *outcome);
  }

 private:
  static ReconcileResult sooner(const ReconcileResult& a, const ReconcileResult& b) {
    if (!a.requeue_after || !b.requeue_after) return a.requeue_after ? a : b;
    return *a.requeue_after < *b.requeue_after ? a : b;
  }

  // As the plan says, or when something that was refused is due.
  ReconcileResult outcome_of(const Plan& plan, const api::SampleSet& set) const {
    return sooner({.requeue_after = plan.requeue_after},
                  {.requeue_after = rejected_.next(set.meta, clock_.boot())});
  }

  Result<ReconcileResult> drive(api::SampleSet set, const kube::Call& call) {
    TRY(auto seen, observer_.observe_world(set, call));
    if (!seen) return ReconcileResult{.requeue_after = kSoon};
    // A second round when a name of ours is taken: it says so in the status.
    for (int round = 0; round < 2; ++round) {
      const Plan plan = desired(set, *seen, options_.config, clock_.wall());
      std::optional<Error> failed;
      TRY(const auto executed, execute(plan, set, *seen, failed, call));
      if (executed == PlanExecutor::Executed::kNameConflict) continue;
      if (says_more(*seen)) CHECK_DONE(say_more(plan, set, *seen, call));
      // Nobody comes back to a set by itself after that one.
      if (failed && failed->code != Code::kInvalid) return *std::move(failed);
      return outcome_of(plan, set);
    }
    return Error{Code::kConflict, "names are taken"};
  }

  // What the server refuses stops nothing else: `world` shows it, and the status says it. `failed`:
  // the first other error that nothing else had to wait for.
  Result<PlanExecutor::Executed> execute(const Plan& plan, api::SampleSet& set, World& world,
                                         std::optional<Error>& failed, const kube::Call& call) {
    std::vector<Action> refused;
    // Labels of a node come and go in their order: one of them says whose the other is.
    std::set<std::string> not_labelled;
    for (const Action& action : plan.actions) {
      // It would say that all was done.
      if (std::holds_alternative<SetStatus>(action) && says_more(world)) continue;
      const auto* label = std::get_if<LabelNode>(&action);
      if (label && not_labelled.contains(label->node)) continue;
      if (const auto words = rejected_.waits(set.meta, action, clock_.boot())) {
        refused.push_back(action);
        if (label) not_labelled.insert(label->node);
        show(action, *words, world);
        continue;
      }
      auto executed = executor_.execute(action, set, world, call);
      if (executed) {
        if (*executed == PlanExecutor::Executed::kNameConflict) return executed;
        continue;
      }
      Error error = std::move(executed).error();
      if (error.code == Code::kCancelled) return error;
      if (label) not_labelled.insert(label->node);
      if (is_write(action) && is_rejection(error)) {
        log::warn("refused by the server; the rest goes on",
                  {{"sampleset", to_string(set.meta.key)}, {"error", error.message}});
        rejected_.add(set.meta, action, error.message, clock_.boot());
        refused.push_back(action);
        show(action, error.message, world);
        continue;
      }
      if (!stands_alone(action)) return error;
      if (error.code == Code::kForbidden || error.code == Code::kInvalid) {
        show(action, error.message, world);
      }
      if (const auto* cancel = std::get_if<CancelJob>(&action)) {
        world.uncancelled_jobs.emplace(cancel->partition, cancel->id);
      }
      if (!failed) failed = std::move(error);
    }
    rejected_.keep_only(set.meta, refused);
    return PlanExecutor::Executed::kDone;
  }

  static void show(const Action& action, const std::string& words, World& world) {
    const auto* create = std::get_if<CreateObject>(&action);
    if (!create) {
      world.rejected_writes.push_back(words);
    } else if (!world.rejected_creation) {
      world.rejected_creation = Rejection{"ErrorCreate" + kind_name(create->kind), words};
    }
  }

  // What rests on others, or others on it, ends the pass when it fails for a while.
  static bool stands_alone(const Action& action) {
    return std::holds_alternative<LabelNode>(action) || std::holds_alternative<PutJob>(action) ||
           std::holds_alternative<CancelJob>(action) ||
           std::holds_alternative<ReplaceRuntime>(action) ||
           std::holds_alternative<SetOwners>(action);
  }

  static bool says_more(const World& world) {
    return world.rejected_creation || !world.rejected_writes.empty() ||
           !world.uncancelled_jobs.empty();
  }

  // The status as it is with that, and what is new in it.
  Result<> say_more(const Plan& before, api::SampleSet& set, World& world, const kube::Call& call) {
    const Plan plan = desired(set, world, options_.config, clock_.wall());
    for (const Action& action : plan.actions) {
      const bool says =
          std::holds_alternative<SetStatus>(action) || std::holds_alternative<Tell>(action);
      if (!says || std::ranges::find(before.actions, action) != before.actions.end()) continue;
      CHECK_DONE(executor_.execute(action, set, world, call));
    }
    return Done{};
  }

  Result<ReconcileResult> end_orphans(const ObjectKey& key, const std::string& living,
                                      const kube::Call& call) {
    auto orphans = observer_.orphans(key, living);
    if (orphans.empty()) return ReconcileResult{};
    // Our view may be behind: only the server knows that a set is gone.
    const auto there = cluster_.get(kinds::kSampleSets, key, call);
    if (!there && !there.is(Code::kNotFound)) return there.error();
    std::string uid;
    if (there) {
      TRY(const api::Meta meta, api::decode_meta(*there));
      uid = meta.uid;
    }
    ReconcileResult outcome;
    for (api::SampleSet& orphan : orphans) {
      if (there && (orphan.meta.uid == uid || orphan.meta.uid.empty())) continue;
      TRY(auto world, observer_.observe_world(orphan, call));
      if (!world) return ReconcileResult{.requeue_after = kSoon};
      const Plan plan = plan_deletion(orphan, *world);
      std::optional<Error> failed;
      CHECK_DONE(execute(plan, orphan, *world, failed, call));
      if (failed) return *std::move(failed);
      outcome = sooner(outcome, outcome_of(plan, orphan));
    }
    return outcome;
  }

  kube::Cluster& cluster_;
  const Options options_;
  const Clock& clock_;
  WorldObserver observer_;
  PlanExecutor executor_;
  RejectedWrites rejected_{};
};

}  // namespace

Reconcile make_reconciler(const ControllerContext& around, const Options& options,
                          const Clock& clock) {
  auto reconciler = std::make_shared<Reconciler>(around, options, clock);
  return [reconciler](const ObjectKey& key, std::stop_token stop) {
    return reconciler->reconcile(key, stop);
  };
}

}  // namespace paddle::controllers::sample_set
