// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/finishing.h"

#include <algorithm>

#include "controllers/paddle_job/active_time.h"
#include "controllers/paddle_job/pod_facts.h"
#include "controllers/paddle_job/pruning.h"

namespace paddle::controllers {
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

bool time_was_up(const api::PaddleJob& job) {
  const auto* condition = api::find_condition(job.status.conditions, "Failed");
  return condition && condition->reason == "DeadlineExceeded";
}

bool has_to_go(const api::PaddleJob& job, const api::Pod& pod) {
  if (epoch_of(pod.meta) < job.status.epoch) return true;
  if (ended(pod)) return false;
  if (job.status.phase == "Completed" || time_was_up(job)) return true;
  return pod.phase == api::PodPhase::kPending;
}

}  // namespace

Plan for_finished(const api::PaddleJob& job, const Sight& sight, WallTime now) {
  const World& world = sight.world;
  const bool clean = cleans_up(job);
  std::vector<Delete> doomed;
  for (const PodPtr& pod : world.pods) {
    if (pod->meta.deleting() || !(clean || has_to_go(job, *pod))) continue;
    doomed.push_back(delete_pod(*pod));
  }
  if (clean) {
    for (const ServiceSeen& service : world.services) {
      if (service.meta.deleting()) continue;
      doomed.push_back({Child::kService, service.meta.key, service.meta.uid});
    }
    if (world.rendezvous && !world.rendezvous->meta.deleting()) {
      doomed.push_back({Child::kConfigMap, job.meta.key, world.rendezvous->meta.uid});
    }
  }
  if (auto group = delete_pod_group(job, world)) doomed.push_back(std::move(*group));
  std::ranges::sort(doomed, [](const Delete& a, const Delete& b) {
    return std::tie(a.child, a.key) < std::tie(b.child, b.key);
  });

  Plan plan;
  Wave wave(doomed.begin(), doomed.end());
  if (const auto due = end_of_life(job)) {
    if (now >= *due) wave = {DeleteJob{}};  // takes along what is left
    if (now < *due) plan.again_at = due;
  }
  if (!wave.empty()) plan.waves.push_back(std::move(wave));
  return plan;
}

}  // namespace paddle::controllers
