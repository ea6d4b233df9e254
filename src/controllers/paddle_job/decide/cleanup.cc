// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/cleanup.h"

#include <algorithm>

#include "controllers/paddle_job/decide/pod_facts.h"
#include "controllers/paddle_job/decide/pruning.h"
#include "controllers/paddle_job/spec/deadlines.h"

namespace paddle::controllers::paddle_job {
namespace {

bool cleans_up(const api::PaddleJob& job) {
  switch (api::effective_clean_policy(job.spec)) {
    case api::CleanPolicy::kAlways:
      return true;
    case api::CleanPolicy::kNever:
      return false;
    case api::CleanPolicy::kOnFailure:
      return job.status.phase == "Failed";
    case api::CleanPolicy::kOnCompletion:
      return job.status.phase == "Completed";
  }
  return false;
}

bool deadline_passed(const api::PaddleJob& job) {
  const auto* condition = api::find_condition(job.status.conditions, "Failed");
  return condition && condition->reason == "DeadlineExceeded";
}

bool must_be_deleted(const api::PaddleJob& job, const api::Pod& pod) {
  if (epoch_of(pod.meta) < job.status.epoch) return true;
  if (ended(pod)) return false;
  if (job.status.phase == "Completed" || deadline_passed(job)) return true;
  return pod.phase == api::PodPhase::kPending;
}

}  // namespace

Plan clean_up(const api::PaddleJob& job, const PlanContext& context, WallTime now) {
  const World& world = context.world;
  const bool clean = cleans_up(job);
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

  Plan plan;
  Wave wave(deletions.begin(), deletions.end());
  if (const auto due = expiry_of(job)) {
    if (now >= *due) wave = {DeleteJob{}};  // takes along what is left
    if (now < *due) plan.again_at = due;
  }
  if (!wave.empty()) plan.waves.push_back(std::move(wave));
  return plan;
}

}  // namespace paddle::controllers::paddle_job
