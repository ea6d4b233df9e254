// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/decide/preconditions.h"

#include <algorithm>
#include <string>

#include "api/phases.h"
#include "controllers/sample_job/decide/queue.h"
#include "controllers/sample_job/decide/reasons.h"
#include "controllers/sample_job/spec/names.h"

namespace paddle::controllers::sample_job {
namespace {

namespace set_phase = api::sample_set_phase;

// Whether the runtimes of the set accept jobs in this phase.
bool accepts_jobs(const std::string& phase) {
  static constexpr const char* kPhases[] = {set_phase::kReady, set_phase::kPartialReady,
                                            set_phase::kSyncing, set_phase::kSyncFailed,
                                            set_phase::kMount};
  return std::ranges::find(kPhases, phase) != std::end(kPhases);
}

BlockReason missing_object(const PlanContext& context) {
  const api::SampleJob& job = context.job;
  const World& world = context.world;
  const std::string& ns = job.meta.key.ns;
  if (!world.set || world.set->meta.deleting()) {
    return {reason::kSampleSetNotExist,
            "waiting for sampleset " + sample_set_of(job).name + "; create it in namespace " + ns};
  }
  if (job.spec.secret && !job.spec.secret->ns.empty() && job.spec.secret->ns != ns) {
    return {reason::kSecretElsewhere, "secret " + job.spec.secret->name +
                                          " is in another namespace, " + job.spec.secret->ns +
                                          "; create it in " + ns};
  }
  if (world.secret_exists && !*world.secret_exists) {
    return {reason::kSecretNotExist,
            "waiting for secret " + job.spec.secret->name + "; create it in namespace " + ns};
  }
  return {};
}

BlockReason unready_set(const PlanContext& context) {
  const api::SampleSet& set = *context.world.set;
  const std::string& name = set.meta.key.name;
  if (!accepts_jobs(set.status.phase)) {
    return {reason::kWaitingForSampleSet,
            "waiting for sampleset " + name + ", which is " +
                (set.status.phase.empty() ? "new" : set.status.phase) +
                "; see kubectl describe sampleset " + name};
  }
  if (context.type.waits_for_first_sync && set.status.sync &&
      set.status.phase != set_phase::kSyncFailed) {
    return {reason::kWaitingForSampleSet,
            "waiting for the first sync of sampleset " + name + " to complete"};
  }
  std::string missing;
  for (int i = 0; i < context.required_runtimes(); ++i) {
    if (runtime_jobs::is_reachable(context.world.reports, i)) continue;
    missing += (missing.empty() ? "" : ", ") + std::to_string(i);
  }
  if (missing.empty()) return {};
  return {reason::kWaitingForRuntimes, "waiting for the runtimes of partition " + missing};
}

// In steps: with the exact number, each move of a long queue would be a write for every job in it.
std::string queued_text(int ahead, bool changes) {
  const char* many = ahead >= 100 ? "at least 100" : ahead >= 10 ? "at least 10" : "fewer than 10";
  return std::string(many) +
         (changes ? " jobs that sync or remove are ahead" : " jobs of this type are ahead");
}

BlockReason other_jobs(const PlanContext& context) {
  const api::SampleJob& job = context.job;
  const auto& siblings = context.world.siblings;
  if (const auto terminator = waits_for_terminator(job, siblings); !terminator.empty()) {
    return {reason::kTerminating,
            "waiting for samplejob " + terminator + " to cancel older jobs of the set"};
  }
  if (const int left = left_to_cancel(job, siblings); left > 0) {
    return {reason::kTerminating,
            "waiting for " + std::to_string(left) + " older jobs of the set to be cancelled"};
  }
  const bool one_at_a_time =
      context.type.exclusive && context.world.shares_volume && context.partitions() > 1;
  const bool shared = context.world.shares_volume;
  const int ahead =
      ahead_of(job, siblings, one_at_a_time ? 1 : context.config.sent_at_once, shared);
  if (ahead > 0) return {reason::kQueued, queued_text(ahead, waits_for_changes(job, shared))};
  return {};
}

}  // namespace

BlockReason block_reason(const PlanContext& context) {
  if (context.job.spec.suspend) {
    return {reason::kSuspended, "spec.suspend is true; set it to false to continue"};
  }
  for (const auto check : {missing_object, unready_set, other_jobs}) {
    if (BlockReason found = check(context); found.blocks()) return found;
  }
  return {};
}

bool blocks_only_itself(std::string_view reason_name) {
  static constexpr std::string_view kOwn[] = {reason::kSecretNotExist, reason::kSecretElsewhere,
                                              reason::kSuspended, reason::kRetrying};
  return std::ranges::find(kOwn, reason_name) != std::end(kOwn);
}

}  // namespace paddle::controllers::sample_job
