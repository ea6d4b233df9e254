// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/cleanup.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "api/phases.h"
#include "controllers/paddle_job/decide/owned_objects.h"
#include "controllers/paddle_job/decide/pod_facts.h"
#include "controllers/paddle_job/reasons.h"
#include "controllers/paddle_job/spec/deadlines.h"

namespace paddle::controllers::paddle_job {
namespace {

namespace phase = api::paddle_job_phase;

bool clean_policy_applies(const api::PaddleJob& job) {
  switch (api::effective_clean_policy(job.spec)) {
    case api::CleanPolicy::kAlways:
      return true;
    case api::CleanPolicy::kNever:
      return false;
    case api::CleanPolicy::kOnFailure:
      return job.status.phase == phase::kFailed;
    case api::CleanPolicy::kOnCompletion:
      return job.status.phase == phase::kCompleted;
  }
  return false;
}

bool deadline_passed(const api::PaddleJob& job) {
  const auto* failed = api::find_condition(job.status.conditions, condition_type::kFailed);
  return failed && failed->reason == reasons::kDeadlineExceeded;
}

bool must_be_deleted(const api::PaddleJob& job, const api::Pod& pod) {
  if (epoch_of(pod.meta) < job.status.epoch) return true;
  if (ended(pod)) return false;
  if (job.status.phase == phase::kCompleted || deadline_passed(job)) return true;
  return pod.phase == api::PodPhase::kPending;
}

}  // namespace

Cleanup clean_up(const api::PaddleJob& job, const World& world, WallTime now) {
  const bool clean = clean_policy_applies(job);
  std::vector<Delete> deletions;
  for (const PodPtr& pod : world.pods) {
    if (pod->meta.deleting() || !(clean || must_be_deleted(job, *pod))) continue;
    deletions.push_back(delete_pod(*pod));
  }
  if (clean) {
    for (const ServiceSummary& service : world.services) {
      if (service.meta.deleting()) continue;
      deletions.push_back({OwnedKind::kService, service.meta.key, service.meta.uid});
    }
    if (world.peer_config && !world.peer_config->meta.deleting()) {
      deletions.push_back({OwnedKind::kConfigMap, job.meta.key, world.peer_config->meta.uid});
    }
  }
  if (auto group = delete_pod_group(job, world)) deletions.push_back(std::move(*group));
  std::ranges::sort(deletions, [](const Delete& a, const Delete& b) {
    return std::tie(a.kind, a.key) < std::tie(b.kind, b.key);
  });

  Cleanup result{.wave = Wave(deletions.begin(), deletions.end())};
  if (const auto expiry = expiry_of(job)) {
    if (now >= *expiry) result.wave = {DeleteJob{}};  // the garbage collector deletes the rest
    if (now < *expiry) result.due = expiry;
  }
  return result;
}

}  // namespace paddle::controllers::paddle_job
