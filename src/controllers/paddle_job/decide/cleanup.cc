// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/cleanup.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

#include "api/phases.h"
#include "controllers/paddle_job/decide/owned_objects.h"
#include "controllers/paddle_job/decide/pods/pod_facts.h"
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

// What happens to a pod that cleanPodPolicy does not delete.
enum class PodCleanup { kKeep, kStop, kDelete };

PodCleanup cleanup_of(const api::PaddleJob& job, const api::Pod& pod, WallTime now) {
  if (epoch_of(pod.meta) < job.status.epoch) return PodCleanup::kDelete;
  if (ended(pod)) return PodCleanup::kKeep;
  if (job.status.phase == phase::kCompleted || pod.phase == api::PodPhase::kPending) {
    return PodCleanup::kDelete;
  }
  const auto since = job.status.completion_time;
  return since && now >= *since + kStopTimeout ? PodCleanup::kDelete : PodCleanup::kStop;
}

// Any time that has passed already; 1 is the least that the API server accepts.
constexpr std::int64_t kPassedDeadline = 1;

Patch stop_pod(const api::Pod& pod) {
  return {OwnedKind::kPod, pod.meta.key,
          api::Opaque(api::Json{{"metadata", {{"uid", pod.meta.uid}}},
                                {"spec", {{"activeDeadlineSeconds", kPassedDeadline}}}})};
}

}  // namespace

Cleanup clean_up(const api::PaddleJob& job, const World& world, WallTime now) {
  const bool clean = clean_policy_applies(job);
  std::vector<Delete> deletions;
  std::vector<Patch> stops;
  Cleanup result;
  for (const PodPtr& pod : world.pods) {
    if (pod->meta.deleting()) continue;
    const PodCleanup action = clean ? PodCleanup::kDelete : cleanup_of(job, *pod, now);
    if (action == PodCleanup::kDelete) deletions.push_back(delete_pod(*pod));
    if (action != PodCleanup::kStop) continue;
    if (job.status.completion_time) result.due = *job.status.completion_time + kStopTimeout;
    if (pod->active_deadline_seconds != kPassedDeadline) stops.push_back(stop_pod(*pod));
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

  std::ranges::sort(stops, {}, &Patch::key);
  result.wave = Wave(deletions.begin(), deletions.end());
  result.wave.insert(result.wave.end(), stops.begin(), stops.end());
  if (const auto expiry = expiry_of(job)) {
    if (now >= *expiry) result.wave = {DeleteJob{}};  // the garbage collector deletes the rest
    if (now < *expiry) earliest(result.due, expiry);
  }
  return result;
}

}  // namespace paddle::controllers::paddle_job
