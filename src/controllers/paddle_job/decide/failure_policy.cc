// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/failure_policy.h"

#include <algorithm>

#include "controllers/paddle_job/decide/failure_rules.h"
#include "controllers/paddle_job/decide/pods/node_liveness.h"
#include "controllers/paddle_job/decide/pods/pod_facts.h"
#include "controllers/paddle_job/decide/start_barrier.h"
#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/objects/peer_config_map.h"
#include "controllers/paddle_job/reasons.h"
#include "controllers/paddle_job/spec/deadlines.h"

namespace paddle::controllers::paddle_job {
namespace {

// The first pod in each state, in the order of slots.
struct Findings {
  const api::Pod* failed_program = nullptr;
  const api::Pod* failed_disruption = nullptr;
  const api::Pod* leaving = nullptr;
  const api::Pod* rebooted = nullptr;  // with its node
  std::string missing{};               // name
};

Findings find_lost_pods(const api::PaddleJob& job, const ReplicaSlots& slots) {
  Findings found;
  const auto note = [](const api::Pod*& first, const api::Pod* pod) {
    if (!first) first = pod;
  };
  for (const GroupSlots& group : slots.groups) {
    for (size_t i = 0; i < group.pods.size(); ++i) {
      const api::Pod* pod = group.pods[i];
      if (group.done[i]) continue;
      if (!pod) {
        if (found.missing.empty()) {
          found.missing = pod_name(job, group.spec, static_cast<int>(i));
        }
      } else if (failed_by_disruption(*pod)) {
        note(found.failed_disruption, pod);
      } else if (failed(*pod)) {
        note(found.failed_program, pod);
      } else if (is_leaving(*pod)) {
        note(found.leaving, pod);
      } else if (lost_released_address(*pod)) {
        note(found.rebooted, pod);
      }
    }
  }
  return found;
}

int failures_of_containers(const ReplicaSlots& slots) {
  int all = 0;
  for (const api::Pod* pod : assigned_pods(slots)) all += container_failures(*pod);
  return all;
}

std::string times(int count) { return count == 1 ? "once" : std::to_string(count) + " times"; }

JobDecision fail_by_rule(const MatchedRule& rule, const std::string& message) {
  return {.outcome = Outcome::kFailed,
          .reason = {reasons::kFailurePolicy, message + "; rule " + std::to_string(rule.number) +
                                                  " of failurePolicy ends the job"}};
}

std::vector<const api::Pod*> pods_that(const ReplicaSlots& slots, const PodTest& test) {
  std::vector<const api::Pod*> found;
  for (const GroupSlots& group : slots.groups) {
    for (size_t i = 0; i < group.pods.size(); ++i) {
      const api::Pod* pod = group.pods[i];
      if (pod && !group.done[i] && test(*pod)) found.push_back(pod);
    }
  }
  return found;
}

bool was_disrupted(const api::Pod& pod) { return failed_by_disruption(pod) || pod.disrupted; }
bool failed_itself(const api::Pod& pod) { return failed(pod) && !failed_by_disruption(pod); }

// Containers that are restarted in place have failed more often than backoffLimit allows.
std::optional<JobDecision> evaluate_containers(const api::PaddleJob& job,
                                               const ReplicaSlots& slots) {
  // Their kubelet has restarted them already, so of the rules only Fail makes a difference.
  if (job.spec.failure_policy) {
    const auto rule =
        match_rules(job.spec, pods_that(slots, [](const api::Pod& pod) { return !ended(pod); }));
    if (rule && rule->action == FailureAction::kFail) {
      const auto failure = container_failure(*rule->pod);
      return fail_by_rule(*rule, failure ? failure->message
                                         : "a container of pod " + rule->pod->meta.key.name +
                                               " was restarted after a failure");
    }
  }
  if (!job.spec.backoff_limit) return std::nullopt;
  const int count = failures_of_containers(slots);
  if (count == 0 || job.status.failures + count <= *job.spec.backoff_limit) return std::nullopt;
  std::string text = "programs have failed " + times(job.status.failures + count) +
                     ", more often than backoffLimit (" + std::to_string(*job.spec.backoff_limit) +
                     ") allows";
  for (const api::Pod* pod : assigned_pods(slots)) {
    if (const auto failure = container_failure(*pod)) {
      text += "; now " + failure->message;
      break;
    }
  }
  return JobDecision{.outcome = Outcome::kFailed,
                     .reason = {reasons::kBackoffLimitExceeded, std::move(text)}};
}

// `in_place`: failures of containers in this epoch.
JobDecision restart_or_fail(const api::PaddleJob& job, const Config& config, WallTime now,
                            Cause cause, BlockReason why, int in_place = 0) {
  const bool by_owner = config.one_machine && !job.spec.disruption_limit;
  if (cause == Cause::kDisruption && by_owner) cause = Cause::kOwner;
  const auto decision = [&](Outcome outcome, BlockReason reason) {
    return JobDecision{.outcome = outcome, .cause = cause, .reason = std::move(reason)};
  };
  switch (cause) {
    case Cause::kSpec:
    case Cause::kOwner:
    case Cause::kIgnored:
      return decision(Outcome::kRestart, std::move(why));
    case Cause::kProgram: {
      const int limit = job.spec.backoff_limit.value_or(0);
      const int failures = job.status.failures + in_place;
      if (failures < limit) return decision(Outcome::kRestart, std::move(why));
      if (limit == 0) return decision(Outcome::kFailed, std::move(why));
      return decision(Outcome::kFailed,
                      {reasons::kBackoffLimitExceeded,
                       "restarted " + times(failures) + ", as often as backoffLimit allows; now " +
                           why.message});
    }
    case Cause::kDisruption:
      break;
  }
  const int limit = job.spec.disruption_limit.value_or(kDefaultDisruptionLimit);
  if (recent_disruptions(job.status, now) < limit)
    return decision(Outcome::kRestart, std::move(why));
  return decision(Outcome::kFailed, {reasons::kDisruptionLimitExceeded,
                                     "disrupted more often than disruptionLimit (" +
                                         std::to_string(limit) + ") allows; now " + why.message});
}

// The same after the rules of failurePolicy for these pods.
JobDecision follow_rules(const api::PaddleJob& job, const Config& config, WallTime now,
                         const std::vector<const api::Pod*>& pods, Cause cause, BlockReason why,
                         int in_place = 0) {
  if (const auto rule = match_rules(job.spec, pods)) {
    if (rule->action == FailureAction::kFail) {
      return fail_by_rule(*rule, failed(*rule->pod) ? failure_message(*rule->pod) : why.message);
    }
    if (rule->action == FailureAction::kIgnore) cause = Cause::kIgnored;
  }
  return restart_or_fail(job, config, now, cause, std::move(why), in_place);
}

// A pod is lost, or has another address than its peers know.
std::optional<BlockReason> loss(const api::PaddleJob& job, const ReplicaSlots& slots,
                                const World& world, const Findings& found) {
  if (found.failed_disruption) {
    return BlockReason{reasons::kPodDisrupted, failure_message(*found.failed_disruption)};
  }
  if (found.leaving) {
    return BlockReason{reasons::kPodLeaves,
                       "pod " + found.leaving->meta.key.name + " is being deleted or evicted"};
  }
  if (!found.missing.empty()) {
    return BlockReason{reasons::kPodLost, "pod " + found.missing + " is gone"};
  }
  if (!addresses_known(job, slots, world) && any_pod(slots, waits_for_release)) {
    return BlockReason{reasons::kPodLost,
                       "a pod was deleted before all of its peers had its address"};
  }
  if (address_changed(job, slots, world)) {
    return BlockReason{reasons::kAddressChanged, "a pod has another address than its peers know"};
  }
  return std::nullopt;
}

// The same for a job in which a program has failed, too.
BlockReason loss_beside_failure(const api::PaddleJob& job, const ReplicaSlots& slots,
                                const World& world, const Findings& found) {
  if (auto why = loss(job, slots, world, found)) return *std::move(why);
  const api::Pod* pod = found.rebooted ? found.rebooted : found.failed_program;
  if (pod == found.failed_program) return {reasons::kFailed, failure_message(*pod)};
  return {reasons::kNodeRestarted,
          "pod " + pod->meta.key.name + " starts again: its node was rebooted"};
}

bool shape_changed(const api::PaddleJob& job, const World& world) {
  if (!is_published(job, world)) return false;
  const auto& annotations = world.peer_config->meta.annotations;
  const auto shape = annotations.find(kShapeAnnotation);
  return shape != annotations.end() && shape->second != shape_of(job);
}

// A program has failed: by itself, or because of a disruption?
JobDecision evaluate_failure(const api::PaddleJob& job, const ReplicaSlots& slots,
                             const World& world, const Findings& found, WallTime now,
                             const Config& config) {
  const BlockReason own{reasons::kFailed, failure_message(*found.failed_program)};
  const bool pod_is_missing = !found.missing.empty() && has_begun(job, slots, world);
  if (found.failed_disruption || found.leaving || found.rebooted || pod_is_missing) {
    JobDecision decision =
        follow_rules(job, config, now, pods_that(slots, was_disrupted), Cause::kDisruption,
                     loss_beside_failure(job, slots, world, found));
    decision.rests_on_missing_pod = pod_is_missing;
    return decision;
  }
  const NodeCheck nodes = check_nodes(slots, *found.failed_program, world.node_leases, now);
  if (nodes.due) return {.unread_leases = nodes.unread, .due = nodes.due};
  if (!nodes.lost.empty()) {
    return restart_or_fail(
        job, config, now, Cause::kDisruption,
        {reasons::kNodeLost, "node " + nodes.lost + " stopped responding, then " + own.message});
  }
  return follow_rules(job, config, now, pods_that(slots, failed_itself), Cause::kProgram, own,
                      failures_of_containers(slots));
}

std::string success_message(const api::PaddleJobSpec& spec) {
  if (spec.success_policy == "Chief") return "worker 0 succeeded, as successPolicy Chief requires";
  if (spec.success_policy == "Any") return "a worker succeeded, as successPolicy Any requires";
  return "every worker succeeded";
}

// A restart that the user asks for, or that an edit of the template requires.
std::optional<JobDecision> evaluate_edit(const api::PaddleJob& job, const ReplicaSlots& slots,
                                         const TemplateChange& change, const Findings& found,
                                         WallTime now, const Config& config) {
  if (!assigned_pods(slots).empty() && restart_requested(job)) {
    return restart_or_fail(job, config, now, Cause::kSpec,
                           {reasons::kRestartRequested,
                            std::string("the annotation ") + kRestartAnnotation + " has changed"});
  }
  if (change.pods == 0) return std::nullopt;
  if (!any_program_started(slots)) {
    return restart_or_fail(
        job, config, now, Cause::kSpec,
        {reasons::kTemplateChanged, "a template was edited before any program had started"});
  }
  if (found.missing.empty() || found.failed_program) return std::nullopt;
  if (!is_elastic(job.spec, config.etcd) && !uses_services(job.spec)) return std::nullopt;
  JobDecision decision = restart_or_fail(
      job, config, now, Cause::kSpec,
      {reasons::kTemplateChanged, "pod " + found.missing +
                                      " has to be created, and the template was edited while the "
                                      "job ran: all pods get the new one"});
  decision.rests_on_missing_pod = true;
  return decision;
}

}  // namespace

bool has_begun(const api::PaddleJob& job, const ReplicaSlots& slots, const World& world) {
  if (is_published(job, world)) return true;
  return any_pod(slots, was_released) || any_done(slots);
}

bool replaces_single_pods(const api::PaddleJob& job, const ReplicaSlots& slots, const World& world,
                          const Config& config) {
  return is_elastic(job.spec, config.etcd) || uses_services(job.spec) ||
         !has_begun(job, slots, world);
}

JobDecision evaluate(const api::PaddleJob& job, const ReplicaSlots& slots, const World& world,
                     const TemplateChange& change, WallTime now, const Config& config) {
  if (work_done(job.spec, slots)) {
    return {.outcome = Outcome::kCompleted,
            .reason = {reasons::kCompleted, success_message(job.spec)}};
  }
  if (const auto deadline = deadline_of(job.spec, job.status)) {
    if (now >= *deadline) {
      return {.outcome = Outcome::kFailed,
              .reason = {reasons::kDeadlineExceeded,
                         "the job did not finish within activeDeadlineSeconds (" +
                             std::to_string(*job.spec.active_deadline_seconds) + ")"}};
    }
  }
  const Findings found = find_lost_pods(job, slots);
  const bool begun = has_begun(job, slots, world);
  const bool elastic = is_elastic(job.spec, config.etcd);
  if (begun && !elastic && shape_changed(job, world)) {
    return restart_or_fail(
        job, config, now, Cause::kSpec,
        {reasons::kSpecChanged, "the spec requires other peers than this run has"});
  }
  if (auto decision = evaluate_edit(job, slots, change, found, now, config)) {
    return *std::move(decision);
  }
  if (found.failed_program) return evaluate_failure(job, slots, world, found, now, config);
  // Programs that fail beside a disruption are judged when it is over.
  if (!found.failed_disruption && !found.leaving && !found.rebooted && found.missing.empty()) {
    if (auto failed = evaluate_containers(job, slots)) return *std::move(failed);
  }
  if (replaces_single_pods(job, slots, world, config)) return {};
  auto lost = loss(job, slots, world, found);
  if (!lost) return {};
  JobDecision decision = follow_rules(job, config, now, pods_that(slots, was_disrupted),
                                      Cause::kDisruption, std::move(*lost));
  decision.rests_on_missing_pod = !found.missing.empty();
  return decision;
}

}  // namespace paddle::controllers::paddle_job
