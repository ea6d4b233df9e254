// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/reconciler.h"

#include <optional>

#include "controllers/loop/rejection.h"
#include "controllers/sample_set/decide/deletion.h"
#include "controllers/sample_set/decide/status/status_delay.h"
#include "controllers/sample_set/execute/plan_executor.h"
#include "controllers/sample_set/observe/world_observer.h"
#include "controllers/sample_set/plan.h"

namespace paddle::controllers::sample_set {
namespace {

using kube::ObjectKey;

class Reconciler {
 public:
  Reconciler(const ControllerContext& context, const Options& options, const Clock& clock)
      : cluster_(context.cluster),
        config_(options.config),
        clock_(clock),
        observer_(context, options.ns, options.config, options.polls, options.sends, clock),
        executor_({context, observer_, options.identity, clock}, clock) {}

  Result<ReconcileResult> reconcile(const ObjectKey& key, std::stop_token stop) {
    const kube::Call call{.timeout = kServerCallTimeout, .stop = stop};
    const auto set = observer_.find(key);
    auto orphans = delete_orphans(key, set ? set->meta.uid : "", call);
    if (!orphans) {
      return std::move(orphans).error().in("delete orphan of sampleset " + to_string(key));
    }
    if (!set) {
      observer_.forget(key);
      if (!orphans->requeue_after) executor_.forget(key);
      return orphans;
    }
    auto result = requeue_rejected(reconcile(*set, call), "sampleset " + to_string(key));
    if (!result) return std::move(result).error().in("sampleset " + to_string(key));
    earliest(result->requeue_after, orphans->requeue_after);
    return result;
  }

 private:
  Result<ReconcileResult> reconcile(api::SampleSet set, const kube::Call& call) {
    TRY(auto world, observer_.observe(set, call));
    if (!world) return ReconcileResult{.requeue_after = kInformerStart};
    // A second time when an object is foreign, so that the status shows it.
    for (int attempt = 0; attempt < 2; ++attempt) {
      const Plan plan = desired(set, *world, config_, clock_.wall());
      TRY(auto outcome, executor_.execute(plan, set, *world, call));
      world->rejections = outcome.rejections;
      if (outcome.conflict) {
        show_conflict(*outcome.conflict, *world);
        continue;
      }
      std::optional<api::SampleSetStatus> written = plan.status;
      if (!world->rejections.empty()) {
        const Plan next = desired(set, *world, config_, clock_.wall());
        CHECK_DONE(executor_.report(next, plan, set, *world, call));
        written = next.status;
      }
      if (outcome.failure) return *std::move(outcome.failure);
      ReconcileResult result = result_of(plan, set);
      // The next plan may use what was stored: an id, a phase.
      if (written && !differs_in_progress_only(set.status, *written)) {
        result.requeue_after = std::chrono::nanoseconds{0};
      }
      return result;
    }
    return Error{Code::kConflict, "objects with names of the set already exist"};
  }

  Result<ReconcileResult> delete_orphans(const ObjectKey& key, const std::string& living_uid,
                                         const kube::Call& call) {
    const auto orphans = observer_.orphans(key, living_uid);
    if (orphans.empty()) return ReconcileResult{};
    // The informer may be behind: only the server knows that a set is gone.
    const auto current = cluster_.get(kube::resources::kSampleSets, key, call);
    if (!current && !current.is(Code::kNotFound)) return current.error();
    std::string current_uid;
    if (current) {
      TRY(const api::Meta meta, api::decode_meta(*current));
      current_uid = meta.uid;
    }
    ReconcileResult result;
    for (api::SampleSet orphan : orphans) {
      if (current && (orphan.meta.uid == current_uid || orphan.meta.uid.empty())) continue;
      TRY(const auto world, observer_.observe(orphan, call));
      if (!world) return ReconcileResult{.requeue_after = kInformerStart};
      const Plan plan = plan_deletion(orphan, *world);
      TRY(auto outcome, executor_.execute(plan, orphan, *world, call));
      if (outcome.failure) return *std::move(outcome.failure);
      earliest(result.requeue_after, result_of(plan, orphan).requeue_after);
    }
    return result;
  }

  ReconcileResult result_of(const Plan& plan, const api::SampleSet& set) const {
    ReconcileResult result{.requeue_after = plan.next_pass()};
    earliest(result.requeue_after, executor_.next_retry(set.meta));
    return result;
  }

  kube::Cluster& cluster_;
  const Config config_;
  const Clock& clock_;
  WorldObserver observer_;
  PlanExecutor executor_;
};

}  // namespace

Reconcile make_reconciler(const ControllerContext& context, const Options& options,
                          const Clock& clock) {
  auto reconciler = std::make_shared<Reconciler>(context, options, clock);
  return [reconciler](const ObjectKey& key, std::stop_token stop) {
    return reconciler->reconcile(key, stop);
  };
}

}  // namespace paddle::controllers::sample_set
