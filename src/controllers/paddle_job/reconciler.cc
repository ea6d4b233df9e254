// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/reconciler.h"

#include <algorithm>

#include "controllers/loop/rejection.h"
#include "controllers/paddle_job/execute/plan_executor.h"
#include "controllers/paddle_job/observe/reconcile_cache.h"
#include "controllers/paddle_job/observe/world_observer.h"
#include "controllers/paddle_job/plan.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::ObjectKey;
using namespace std::chrono_literals;

// Plans that follow from each other in one pass: more than any job needs, and a bound for a defect.
constexpr int kRounds = 8;
constexpr auto kAfterLastRound = 1s;
constexpr auto kInformerStarts = 100ms;

class Reconciler {
 public:
  Reconciler(const ControllerContext& context, const Options& options, const Clock& clock)
      : config_(options.config),
        clock_(clock),
        pacing_(context.queue, context.events, clock),
        observer_(context, options.ns, options.config, options.etcd, pacing_, clock),
        executor_(context.cluster, context.events, options.etcd, observer_,
                  options.parallel_actions) {}

  Result<ReconcileResult> reconcile(const ObjectKey& key, std::stop_token stop) {
    const auto job = observer_.find(key);
    if (!job) {  // deleted since it was queued
      forget(key, stop);
      return ReconcileResult{};
    }
    Pass pass{.cache = cache_.of(key), .call = {.stop = stop}};
    if (const auto pause = pacing_.begin(*job, pass.cache)) return ReconcileResult{pause};
    const std::string object = "paddlejob " + to_string(key);
    auto ran = run(key, pass);
    auto result = requeue_rejected(std::move(ran), object, pass.requeue_after);
    if (!result) return std::move(result).error().in(object);
    return result;
  }

 private:
  // A plan, and the job that it is for; null: the job no longer exists.
  struct Planned {
    JobPtr job{};
    Plan plan{};
    bool informer_starts = false;  // there is no plan yet
  };

  Result<ReconcileResult> run(const ObjectKey& key, Pass& pass) {
    for (int round = 0; round < kRounds; ++round) {
      TRY(const Planned planned, make_plan(key, pass));
      if (planned.informer_starts) return ReconcileResult{kInformerStarts};
      if (!planned.job) return ReconcileResult{};
      const Plan& plan = planned.plan;
      if (!plan.waves.empty()) {
        auto executed = executor_.execute(plan, *planned.job, pass);
        if (!executed) return report(key, std::move(executed).error(), pass);
        continue;
      }
      // Another job has chosen the same host ports meanwhile: choose again.
      if (!observer_.reserve_ports(*planned.job, plan)) continue;
      TRY(const auto pause, write_status(planned, pass));
      if (plan.requeue_after == 0ns) continue;
      if (pass.etcd_error) return *pass.etcd_error;
      return ReconcileResult{pause};
    }
    return ReconcileResult{kAfterLastRound};
  }

  Result<Planned> make_plan(const ObjectKey& key, Pass& pass) {
    Planned planned{.job = observer_.find(key)};
    if (!planned.job) return planned;
    TRY(std::optional<World> world, observer_.observe(*planned.job, pass));
    if (!world) return Planned{.informer_starts = true};
    planned.plan = desired(*planned.job, *world, config_, clock_.wall());
    for (int round = 0; !planned.plan.queries.empty(); ++round) {
      if (round == kRounds) return Error{Code::kInternal, "the plan has too many queries"};
      const auto& queries = planned.plan.queries;
      TRY(planned.job, observer_.answer(queries, planned.job, *world, pass));
      if (!planned.job) return Planned{};
      planned.plan = desired(*planned.job, *world, config_, clock_.wall());
    }
    // A pod that has succeeded may be deleted before the status is stored.
    pass.cache.keep_completed(*planned.job, planned.plan);
    return planned;
  }

  // Writes the status unless it may wait. Returns when to plan again.
  Result<std::optional<std::chrono::nanoseconds>> write_status(const Planned& planned, Pass& pass) {
    const Plan& plan = planned.plan;
    auto& pending_since = pass.cache.status_pending_since;
    if (!plan.status) {
      pending_since.reset();
    } else if (plan.writes_status()) {
      CHECK_DONE(executor_.write_status(*plan.status, *planned.job, pass));
    } else if (!pending_since) {
      pending_since = clock_.boot();
    }
    return plan.next_pass();
  }

  // An action has failed. If users have to know why, the status is written before the action is
  // tried again.
  Result<ReconcileResult> report(const ObjectKey& key, Error error, Pass& pass) {
    if (!pass.trouble) return error;
    TRY(const Planned planned, make_plan(key, pass));
    const Plan& plan = planned.plan;
    if (plan.requeue_after != 0ns) pass.requeue_after = plan.requeue_after;
    if (planned.job && plan.writes_status()) {
      CHECK_DONE(executor_.write_status(*plan.status, *planned.job, pass));
    }
    return error;
  }

  void forget(const ObjectKey& key, std::stop_token stop) {
    observer_.release_ports(key);
    JobCache cache = cache_.forget(key);
    if (cache.has_etcd_keys) executor_.forget_elastic_state(key, cache, stop);
  }

  const Config config_;
  const Clock& clock_;
  PassPacing pacing_;
  WorldObserver observer_;
  PlanExecutor executor_;
  ReconcileCache cache_;
};

}  // namespace

Reconcile make_reconciler(const ControllerContext& context, const Options& options,
                          const Clock& clock) {
  auto reconciler = std::make_shared<Reconciler>(context, options, clock);
  return [reconciler](const ObjectKey& key, std::stop_token stop) {
    return reconciler->reconcile(key, stop);
  };
}

}  // namespace paddle::controllers::paddle_job
