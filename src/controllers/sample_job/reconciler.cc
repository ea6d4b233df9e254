// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/reconciler.h"

#include <memory>

#include "controllers/loop/rejection.h"
#include "controllers/sample_job/execute/orphaned_jobs.h"
#include "controllers/sample_job/execute/plan_executor.h"
#include "controllers/sample_job/observe/world_observer.h"
#include "controllers/sample_job/plan.h"
#include "controllers/sample_job/spec/names.h"

namespace paddle::controllers::sample_job {
namespace {

using api::ObjectKey;

constexpr std::chrono::seconds kCallTimeout{10};
constexpr int kMostRounds = 4;
constexpr std::chrono::seconds kSendAgain{2};
constexpr std::chrono::seconds kAnswerCheck{1};  // while a runtime has not answered yet

class Reconciler {
 public:
  Reconciler(const ControllerContext& context, const Options& options, const Clock& clock)
      : config_(options.config),
        clock_(clock),
        observer_(context, options, clock),
        executor_(context, observer_),
        orphans_(context, observer_) {}

  Result<ReconcileResult> reconcile(const ObjectKey& key, std::stop_token stop) {
    const kube::Call call{.timeout = kCallTimeout, .stop = stop};
    if (const auto set = WorldObserver::orphan_check_target(key)) {
      auto result = orphans_.cancel(*set, call);
      if (!result) return std::move(result).error().in("jobs of sampleset " + to_string(*set));
      return result;
    }
    auto result = requeue_rejected(run(key, call), "samplejob " + to_string(key));
    if (!result) return std::move(result).error().in("samplejob " + to_string(key));
    return result;
  }

 private:
  // Rounds of observe, decide, execute. Another one follows at once when the plan says so and its
  // status has been stored (an id may be used from then on), and when a request was rejected, so
  // that the status says why.
  Result<ReconcileResult> run(const ObjectKey& key, const kube::Call& call) {
    ReconcileResult result;
    RejectedRequests rejected;
    for (int round = 0; round < kMostRounds; ++round) {
      const auto job = observer_.find(key);
      if (!job) {
        observer_.forget(key);
        return ReconcileResult{};
      }
      TRY(const auto observed, observer_.observe(*job, rejected, call));
      if (!observed) return ReconcileResult{.requeue_after = kAnswerCheck};
      const World& world = *observed;
      const Plan plan = desired(*job, world, config_, clock_.wall());
      TRY(ExecutionResult executed, executor_.execute(plan, *job, world, call));
      result = {.requeue_after = plan.next_pass()};
      if (!executed.rejected.empty()) {
        rejected = std::move(executed.rejected);
        continue;
      }
      if (executed.job_unsent || executed.waits) {
        return ReconcileResult{.requeue_after = kSendAgain};
      }
      const bool at_once = plan.requeue_after == std::chrono::nanoseconds(0);
      if (!executed.status_written || !at_once) return result;
    }
    return result;
  }

  const Config config_;
  const Clock& clock_;
  WorldObserver observer_;
  PlanExecutor executor_;
  OrphanedJobs orphans_;
};

}  // namespace

Reconcile make_reconciler(const ControllerContext& context, const Options& options,
                          const Clock& clock) {
  auto reconciler = std::make_shared<Reconciler>(context, options, clock);
  return [reconciler](const ObjectKey& key, std::stop_token stop) {
    return reconciler->reconcile(key, stop);
  };
}

}  // namespace paddle::controllers::sample_job
