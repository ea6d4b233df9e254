// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/plan.h"

#include <algorithm>

#include "controllers/paddle_job/decide/cleanup.h"
#include "controllers/paddle_job/decide/creation.h"
#include "controllers/paddle_job/decide/pod_facts.h"
#include "controllers/paddle_job/decide/preconditions.h"
#include "controllers/paddle_job/decide/pruning.h"
#include "controllers/paddle_job/decide/start_barrier.h"
#include "controllers/paddle_job/decide/status.h"
#include "controllers/paddle_job/spec/deadlines.h"
#include "controllers/paddle_job/spec/validation.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers::paddle_job {
namespace {

constexpr std::chrono::seconds kAskForPorts{10};

void add_wave(Plan& plan, Wave wave) {
  if (!wave.empty()) plan.waves.push_back(std::move(wave));
}

void set_status(const api::PaddleJob& job, api::PaddleJobStatus status, Plan& plan) {
  if (status == job.status) return;
  plan.status_is_news = is_significant(job.status, status);
  // An elastic job without a status is, to operators of before, one whose etcd is not clean.
  plan.status_remembers = completed_indexes_of(job.status) != completed_indexes_of(status);
  plan.status_gives_way = plan.status_is_news && !plan.status_remembers && !job.spec.elastic &&
                          is_startup_progress(job.status, status);
  plan.status = std::move(status);
}

// Stored first; whatever follows from it is the next plan's.
Plan store_first(api::PaddleJobStatus status) {
  return {.status = std::move(status), .status_first = true, .status_is_news = true};
}

bool has_old_finalizer(const api::PaddleJob& job) {
  return std::ranges::find(job.meta.finalizers, kFinalizer) != job.meta.finalizers.end();
}

Plan plan_deleted(const api::PaddleJob& job) {  // owner references collect the children
  Plan plan;
  if (has_old_finalizer(job)) add_wave(plan, {DropFinalizer{}});
  api::PaddleJobStatus status = job.status;
  status.phase = "Terminating";
  set_status(job, std::move(status), plan);
  return plan;
}

Plan plan_suspended(const api::PaddleJob& job, const PlanContext& context, WallTime now,
                    const Config& config) {
  api::PaddleJobStatus status = current_status(job, context, now, config);
  const bool anything = !context.world.pods.empty() || has_begun(job, context.slots, context.world);
  if (anything && job.status.phase != "Suspended") {
    return store_first(next_epoch(std::move(status), {.cause = Cause::kSpec}, now));
  }
  Plan plan;
  set_status(job, std::move(status), plan);
  PruneResult pruned = prune(job, context, now, config);
  for (const api::Pod* pod : assigned_pods(context.slots)) {
    if (!pod->meta.deleting()) pruned.wave.push_back(delete_pod(*pod));
  }
  // Volcano would go on keeping room for the gang.
  if (auto group = delete_pod_group(job, context.world)) pruned.wave.push_back(std::move(*group));
  add_wave(plan, std::move(pruned.wave));
  plan.nodes_to_check = std::move(pruned.nodes_to_check);
  earliest(plan.again_at, pruned.again_at);
  return plan;
}

BlockReason etcd_not_clean() {
  return {"EtcdUnavailable",
          "waiting until what a job of this name may have left in etcd is removed"};
}

// A block of ports of the nodes, remembered before any pod is made.
std::optional<Plan> plan_host_ports(const api::PaddleJob& job, PlanContext& context, WallTime now,
                                    const Config& config) {
  if (!on_host_network(job.spec) || remembered_port(job) > 0) return std::nullopt;
  const auto port = choose_ports(job.meta.uid, config.host_ports, context.world.ports_taken);
  Plan plan;
  if (!port) {
    context.blocked = BlockReason{"NoFreePorts", port.error().message};
    plan.again_at = now + kAskForPorts;
    set_status(job, current_status(job, context, now, config), plan);
    return plan;
  }
  api::PaddleJob with_port = job;
  with_port.status.port = *port;
  return store_first(current_status(with_port, context, now, config));
}

Plan plan_running(const api::PaddleJob& job, PlanContext& context, WallTime now,
                  const Config& config) {
  Plan plan;
  plan.keep_np = is_elastic(job.spec, config.etcd);
  earliest(plan.again_at, deadline_of(job, now));
  earliest(plan.again_at, context.decision.again_at);
  plan.nodes_to_check = context.decision.nodes_to_check;

  PruneResult pruned = prune(job, context, now, config);
  plan.nodes_to_check.merge(pruned.nodes_to_check);
  earliest(plan.again_at, pruned.again_at);
  add_wave(plan, std::move(pruned.wave));

  Preconditions checked = check_preconditions(job, context, now, config);
  context.blocked = checked.why;
  context.cold = checked.cold;
  // Said before it is done: afterwards no pod shows it any more.
  if (checked.cold && !api::find_condition(job.status.conditions, "DataWarm")) {
    return store_first(current_status(job, context, now, config));
  }
  earliest(plan.again_at, checked.again_at);
  add_wave(plan, std::move(checked.wave));
  if (const auto resumes = restart_due(job); resumes && now < *resumes) {
    context.in_backoff = true;
    earliest(plan.again_at, resumes);
  }
  if (checked.may_create && !context.in_backoff) {
    Wave missing = create_missing(job, context, config);
    plan.confirm = !missing.empty() && needs_confirmation(job, context);
    const bool nobody = empty_slots(context.slots) == slot_count(context.slots);
    plan.clean_etcd = plan.keep_np && !missing.empty() && nobody && !context.world.etcd_is_clean;
    if (plan.clean_etcd) {
      context.blocked = etcd_not_clean();
    } else {
      add_wave(plan, std::move(missing));
    }
  }
  BarrierActions released = release(job, context, now, config);
  earliest(plan.again_at, released.again_at);
  for (Wave& wave : released.waves) add_wave(plan, std::move(wave));
  set_status(job, current_status(job, context, now, config), plan);
  return plan;
}

Plan plan_live(const api::PaddleJob& job, PlanContext& context, WallTime now,
               const Config& config) {
  Plan plan;
  if (finished(job.status.phase)) {
    plan = clean_up(job, context, now);
    set_status(job, current_status(job, context, now, config), plan);
  } else if (job.spec.suspend && !work_done(context.slots)) {
    plan = plan_suspended(job, context, now, config);
  } else if (const auto error = spec_error(job)) {
    context.blocked = error;
    set_status(job, current_status(job, context, now, config), plan);
  } else if (auto taken = plan_host_ports(job, context, now, config)) {
    plan = std::move(*taken);
  } else {
    context.decision = evaluate(job, context.slots, context.world, now, config);
    if (context.decision.outcome == Outcome::kContinue && context.slots.has_unrecorded_success) {
      plan = store_first(current_status(job, context, now, config));
    } else if (context.decision.outcome == Outcome::kContinue) {
      plan = plan_running(job, context, now, config);
    } else {
      auto status = current_status(job, context, now, config);
      if (context.decision.outcome == Outcome::kRestart) {
        status = next_epoch(std::move(status), context.decision, now);
      }
      plan = store_first(std::move(status));
      plan.forget_np =
          context.decision.outcome != Outcome::kRestart && job.spec.elastic.has_value();
      plan.confirm = context.decision.rests_on_missing_pod && !context.world.confirmed;
    }
  }
  if (has_old_finalizer(job) && !plan.status_first) {
    plan.waves.insert(plan.waves.begin(), Wave{DropFinalizer{}});
  }
  return plan;
}

}  // namespace

Plan desired(const api::PaddleJob& job, const World& world, WallTime now, const Config& config) {
  if (job.meta.deleting()) return plan_deleted(job);
  const ReplicaSlots slots = assign_pods(job, world.pods, world.last_completed);
  if (slots.has_newer_epoch) return {};  // the job's own change is still on its way to us

  PlanContext context{.slots = slots, .world = world};
  if (!is_elastic(job.spec, config.etcd) || !any_pod(slots, has_coordinator)) {
    return plan_live(job, context, now, config);
  }
  // The operator has come to know an etcd, or the spec says elastic, since these pods were made:
  // they have lists of their peers. Nobody among them may be elastic before all are.
  context.began_without_etcd = true;
  Config ordinary = config;
  ordinary.etcd.clear();
  return plan_live(job, context, now, ordinary);
}

}  // namespace paddle::controllers::paddle_job
