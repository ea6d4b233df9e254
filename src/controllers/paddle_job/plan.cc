// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/plan.h"

#include <algorithm>

#include "api/phases.h"
#include "controllers/paddle_job/decide/cleanup.h"
#include "controllers/paddle_job/decide/owned_objects.h"
#include "controllers/paddle_job/decide/pods/pod_facts.h"
#include "controllers/paddle_job/decide/preconditions.h"
#include "controllers/paddle_job/decide/start_barrier.h"
#include "controllers/paddle_job/decide/status.h"
#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/reasons.h"
#include "controllers/paddle_job/spec/deadlines.h"
#include "controllers/paddle_job/spec/queueing.h"
#include "controllers/paddle_job/spec/validation.h"

namespace paddle::controllers::paddle_job {
namespace {

using namespace std::chrono_literals;
namespace phase = api::paddle_job_phase;

constexpr auto kPortInterval = 10s;
constexpr auto kNameInterval = 10s;
// A time of a plan is never 0, which means at once, and never beyond what the queue can count.
constexpr auto kShortestRequeue = 10ms;
constexpr auto kLongestRequeue = 24h;

void requeue_at(Plan& plan, const std::optional<WallTime>& due, WallTime now) {
  if (!due) return;
  plan.requeue_within(
      std::clamp<std::chrono::microseconds>(*due - now, kShortestRequeue, kLongestRequeue));
}

void set_status(Plan& plan, const api::PaddleJob& job, api::PaddleJobStatus status,
                const World& world) {
  if (status == job.status) return;
  plan.status_delay = status_delay(job, status, world);
  plan.status = std::move(status);
}

// Stored first; what follows from it is the next plan's.
Plan store_first(api::PaddleJobStatus status) {
  Plan plan;
  plan.status = std::move(status);
  plan.requeue_after = 0ns;
  return plan;
}

void read_leases(Plan& plan, const std::set<std::string>& nodes) {
  for (const std::string& node : nodes) plan.queries.emplace_back(ReadNodeLease{node});
}

bool has_old_finalizer(const api::PaddleJob& job) {
  return std::ranges::find(job.meta.finalizers, kFinalizer) != job.meta.finalizers.end();
}

// The garbage collector deletes the objects of the job.
Plan plan_deleted(const api::PaddleJob& job, const World& world) {
  Plan plan;
  if (has_old_finalizer(job)) plan.add(RemoveFinalizer{});
  api::PaddleJobStatus status = job.status;
  status.phase = phase::kTerminating;
  set_status(plan, job, std::move(status), world);
  return plan;
}

Plan plan_suspended(const api::PaddleJob& job, const PlanContext& context, WallTime now,
                    const Config& config) {
  api::PaddleJobStatus status = current_status(job, context, now, config);
  const bool has_objects =
      !context.world.pods.empty() || has_begun(job, context.slots, context.world);
  if (has_objects && job.status.phase != phase::kSuspended) {
    return store_first(next_epoch(std::move(status), {.cause = Cause::kSpec}, now));
  }
  Plan plan;
  set_status(plan, job, std::move(status), context.world);
  PruneResult pruned = prune(job, context, now, config);
  for (const api::Pod* pod : assigned_pods(context.slots)) {
    if (!pod->meta.deleting()) pruned.wave.push_back(delete_pod(*pod));
  }
  // Otherwise Volcano would keep resources reserved for the gang.
  if (auto group = delete_pod_group(job, context.world)) pruned.wave.push_back(std::move(*group));
  plan.add(std::move(pruned.wave));
  plan.add(surplus_services(job, context, false));
  read_leases(plan, pruned.unread_leases);
  requeue_at(plan, pruned.due, now);
  return plan;
}

// A block of host ports, stored before any pod is created.
std::optional<Plan> plan_host_ports(const api::PaddleJob& job, PlanContext& context, WallTime now,
                                    const Config& config) {
  if (!uses_host_network(job.spec) || stored_port(job) > 0) return std::nullopt;
  const auto port = choose_ports(job.meta.uid, config.host_ports, context.world.ports_taken);
  if (!port) {
    Plan plan;
    context.blocked = BlockReason{reasons::kNoFreePorts, port.error().message};
    plan.requeue_after = kPortInterval;
    plan.add(surplus_services(job, context, false));
    set_status(plan, job, current_status(job, context, now, config), context.world);
    return plan;
  }
  api::PaddleJob with_port = job;
  with_port.status.port = *port;
  return store_first(current_status(with_port, context, now, config));
}

BlockReason etcd_not_clean() {
  return {reasons::kEtcdUnavailable,
          "waiting until keys that an earlier job of this name may have left in etcd are removed"};
}

// Pods that exist continue: the job has run beside the other one until now.
BlockReason elastic_id_taken(const api::PaddleJob& job, const std::string& owner) {
  return {reasons::kNameTaken, "the elastic job " + owner + " has the same id in etcd, " +
                                   elastic_job_id(job.meta.key) +
                                   "; wait until it has ended, or rename this job"};
}

// The number of trainers in etcd: read once per pass, written when it differs.
void sync_elastic_replicas(Plan& plan, const api::PaddleJob& job, const ElasticState& elastic) {
  if (!elastic.reachable) return;
  if (!elastic.replicas) {
    if (plan.queries.empty()) plan.queries.emplace_back(ReadElasticReplicas{});
    return;
  }
  const auto value = np_to_write(job.spec, elastic.replicas->value);
  if (!value || !elastic.replicas->revision) return;
  WriteElasticReplicas write{.value = *value, .revision = *elastic.replicas->revision};
  if (!job.status.phase.empty() && elastic.leftovers != ElasticState::Leftovers::kRemoved) {
    write.event = EmitEvent{false, reasons::kScaled, "scaled replicas to " + *value};
  }
  plan.waves.insert(plan.waves.begin(), Wave{std::move(write)});
}

// Before the first pod of an elastic job: the keys of an earlier job of this name have to go.
bool must_clean_etcd(const PlanContext& context) {
  const bool no_pods = empty_slots(context.slots) == slot_count(context.slots);
  return no_pods && context.world.elastic.leftovers == ElasticState::Leftovers::kPossible;
}

Plan plan_running(const api::PaddleJob& job, PlanContext& context, WallTime now,
                  const Config& config) {
  Plan plan;
  const bool elastic = is_elastic(job.spec, config.etcd);
  bool clean_etcd = false;
  requeue_at(plan, context.decision.due, now);

  PruneResult pruned = prune(job, context, now, config);
  pruned.unread_leases.insert(context.decision.unread_leases.begin(),
                              context.decision.unread_leases.end());
  read_leases(plan, pruned.unread_leases);
  requeue_at(plan, pruned.due, now);
  plan.add(std::move(pruned.wave));

  Preconditions checked = check_preconditions(job, context, now, config);
  context.blocked = checked.blocked;
  context.cold = checked.cold;
  plan.add(surplus_services(job, context, checked.may_create || !context.world.pods.empty()));
  // Stored before the gates are removed: afterwards no pod shows it.
  if (checked.cold && !api::find_condition(job.status.conditions, condition_type::kDataWarm)) {
    return store_first(current_status(job, context, now, config));
  }
  requeue_at(plan, checked.due, now);
  plan.add(std::move(checked.wave));
  if (const auto due = restart_due(job); due && now < *due) {
    context.in_backoff = true;
    requeue_at(plan, due, now);
  }
  const std::string& id_owner = context.world.elastic.id_owner;
  const bool owns_id = !elastic || id_owner.empty();
  if (!owns_id) {
    context.blocked = elastic_id_taken(job, id_owner);
    plan.requeue_within(kNameInterval);
  }
  // Nothing holds the programs of an elastic job back: the new ones would train with the previous
  // ones, from another template perhaps. The deletion of the last of these is an event.
  const bool joins_previous = elastic && !context.slots.old.empty();
  if (checked.may_create && !context.in_backoff && owns_id && !joins_previous) {
    Wave missing = create_missing(job, context, config);
    const bool confirm = !missing.empty() && needs_confirmation(job, context);
    if (confirm && plan.queries.empty()) plan.queries.emplace_back(ConfirmPods{});
    clean_etcd = elastic && !missing.empty() && must_clean_etcd(context);
    if (clean_etcd) {
      context.blocked = etcd_not_clean();
    } else {
      plan.add(std::move(missing));
    }
  }
  BarrierActions released = release_pods(job, context, now, config);
  requeue_at(plan, released.due, now);
  for (Wave& wave : released.waves) plan.add(std::move(wave));

  if (clean_etcd && context.world.elastic.reachable) {
    plan.waves = {Wave{CleanElasticState{}}};  // the rest is the next plan's
  } else if (elastic && !clean_etcd && owns_id) {
    sync_elastic_replicas(plan, job, context.world.elastic);
  }
  api::PaddleJobStatus status = current_status(job, context, now, config);
  requeue_at(plan, deadline_of(job.spec, status), now);
  set_status(plan, job, std::move(status), context.world);
  return plan;
}

Plan plan_finished(const api::PaddleJob& job, const PlanContext& context, WallTime now,
                   const Config& config) {
  Plan plan;
  if (context.world.elastic.to_be_removed) plan.add(ForgetElasticState{});
  Cleanup cleanup = clean_up(job, context.world, now);
  plan.add(std::move(cleanup.wave));
  requeue_at(plan, cleanup.due, now);
  set_status(plan, job, current_status(job, context, now, config), context.world);
  return plan;
}

Plan plan_active(const api::PaddleJob& job, PlanContext& context, WallTime now,
                 const Config& config) {
  auto error = spec_error(job, config);
  if (!error) error = peer_list_error(job, config);
  if (!error && context.world.pods.empty()) error = context.world.defaults_error;
  if (error) {
    Plan plan;
    context.blocked = error;
    plan.add(surplus_services(job, context, false));
    set_status(plan, job, current_status(job, context, now, config), context.world);
    return plan;
  }
  if (auto plan = plan_host_ports(job, context, now, config)) return *std::move(plan);

  if (!context.world.pods.empty()) context.template_change = template_change(job, context.slots);
  context.decision =
      evaluate(job, context.slots, context.world, context.template_change, now, config);
  const Outcome outcome = context.decision.outcome;
  if (outcome == Outcome::kContinue && !context.slots.has_unrecorded_success) {
    return plan_running(job, context, now, config);
  }
  api::PaddleJobStatus status = current_status(job, context, now, config);
  if (outcome == Outcome::kRestart) status = next_epoch(std::move(status), context.decision, now);
  Plan plan = store_first(std::move(status));
  if (context.decision.rests_on_missing_pod && !context.world.confirmed) {
    plan.queries.emplace_back(ConfirmPods{});
  }
  return plan;
}

Plan plan_live(const api::PaddleJob& job, PlanContext& context, WallTime now,
               const Config& config) {
  Plan plan;
  if (phase::is_final(job.status.phase)) {
    plan = plan_finished(job, context, now, config);
  } else if (job.spec.suspend && !work_done(job.spec, context.slots)) {
    plan = plan_suspended(job, context, now, config);
  } else {
    plan = plan_active(job, context, now, config);
  }
  const bool continues = plan.requeue_after == 0ns;  // the next plan does the rest
  if (const auto port = host_port_annotation(job);
      port && !continues && !phase::is_final(job.status.phase)) {
    plan.add(SetHostPortAnnotation{*port});
  }
  if (has_old_finalizer(job) && !continues) {
    plan.waves.insert(plan.waves.begin(), Wave{RemoveFinalizer{}});
  }
  return plan;
}

}  // namespace

Plan desired(const api::PaddleJob& job, const World& world, const Config& config, WallTime now) {
  if (!job.spec.managed_by_us()) return {};
  if (job.meta.deleting()) return plan_deleted(job, world);
  const bool has_queue = job.meta.labels.contains(kQueueLabel);
  if (has_queue && world.pods.empty() && must_wait_for_queue(job)) {
    Plan plan;
    plan.add(SuspendForQueue{});
    return plan;
  }
  const ReplicaSlots slots = assign_pods(job, world.pods, world.last_completed);
  if (slots.has_newer_epoch) return {};  // the change of the job itself has not arrived yet

  PlanContext context{.slots = slots, .world = world};
  if (!is_elastic(job.spec, config.etcd) || !any_pod(slots, has_coordinator)) {
    return plan_live(job, context, now, config);
  }
  // These pods were created before the operator knew an etcd or the spec was elastic, and have
  // lists of their peers: the job becomes elastic when all of them are replaced.
  context.began_without_etcd = true;
  Config ordinary = config;
  ordinary.etcd.clear();
  return plan_live(job, context, now, ordinary);
}

}  // namespace paddle::controllers::paddle_job
