// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/plan.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/pods.h"
#include "controllers/paddle_job/progress.h"
#include "controllers/paddle_job/rendezvous.h"
#include "controllers/paddle_job/roster.h"

namespace paddle::controllers {
namespace {

Blocker blocker_of(const api::PaddleJob& job, const World& world) {
  if (!job.spec.intranet.empty() && job.spec.intranet != "PodIP") {
    return {"NotSupported",
            "intranet " + job.spec.intranet + " is not supported by this version; use PodIP"};
  }
  if (job.spec.elastic) {
    return {"NotSupported", "elastic jobs are not supported by this version; leave `elastic` out"};
  }
  if (!job.spec.sample_set) return {};
  const auto& ref = *job.spec.sample_set;
  if (!ref.ns.empty() && ref.ns != job.meta.key.ns) {
    return {"SampleSetElsewhere",
            "sampleSetRef.namespace is " + ref.ns +
                ", but volumes do not cross namespaces; create the SampleSet in " +
                job.meta.key.ns};
  }
  if (!world.sample_set) {
    return {"SampleSetMissing", "waiting for the SampleSet " + ref.name + " to be created"};
  }
  if (world.sample_set->status.phase != "Ready") {
    const auto& phase = world.sample_set->status.phase;
    return {"SampleSetNotReady", "waiting for the SampleSet " + ref.name + ", which is " +
                                     (phase.empty() ? "new" : phase) + ", to be Ready"};
  }
  return {};
}

bool cleans_up(const api::PaddleJob& job, const std::string& phase) {
  switch (api::effective_clean_policy(job.spec)) {
    case api::CleanPolicy::kAlways:
      return true;
    case api::CleanPolicy::kNever:
      return false;
    case api::CleanPolicy::kOnFailure:
      return phase == "Failed";
    case api::CleanPolicy::kOnCompletion:
      return phase == "Completed";
  }
  return false;
}

void remove_all(const std::vector<api::Pod>& pods, Plan& plan) {
  std::vector<DeletePod> doomed;
  for (const auto& pod : pods) {
    if (!pod.meta.deleting()) doomed.push_back({pod.meta.key, pod.meta.uid});
  }
  std::ranges::sort(doomed, {}, &DeletePod::key);
  for (auto& pod : doomed) plan.emplace_back(std::move(pod));
}

void create_missing(const api::PaddleJob& job, const Roster& roster, Plan& plan) {
  for (const RoleKind kind : kRoles) {
    const auto& slots = roster.slots.at(kind);
    for (size_t i = 0; i < slots.size(); ++i) {
      if (slots[i]) continue;
      const int index = static_cast<int>(i);
      plan.emplace_back(CreatePod{{job.meta.key.ns, pod_name(job, kind, index)},
                                  api::Opaque(pod_for(job, kind, index))});
    }
  }
}

// A partial list of peers would hang the trainers: nothing until every pod can be reached.
void release_all(const api::PaddleJob& job, const Roster& roster, const World& world, Plan& plan) {
  if (without_address(roster) > 0) return;
  auto data = rendezvous_data(job, addresses(roster));
  if (!world.rendezvous || world.rendezvous->data != data) {
    plan.emplace_back(PutRendezvous{std::move(data), world.rendezvous
                                                         ? world.rendezvous->meta.resource_version
                                                         : std::string()});
  }
  for (const RoleKind kind : kRoles) {
    for (const api::Pod* pod : roster.slots.at(kind)) {
      const std::string value = release_value(job, pod->ip);
      const auto said = pod->meta.annotations.find(kReleaseAnnotation);
      if (said != pod->meta.annotations.end() && said->second == value) continue;
      plan.emplace_back(ReleasePod{pod->meta.key, pod->meta.uid, value});
    }
  }
}

}  // namespace

Plan desired(const api::PaddleJob& job, const World& world, WallTime now) {
  Plan plan;
  if (job.meta.deleting()) {  // owner references collect the children
    const auto& finalizers = job.meta.finalizers;
    if (std::ranges::find(finalizers, kFinalizer) != finalizers.end())
      plan.emplace_back(DropFinalizer{});
    return plan;
  }

  const Roster roster = seat(job, world.pods);
  const Blocker blocker = blocker_of(job, world);
  const api::PaddleJobStatus status = observe(job, roster, blocker, now);
  if (status != job.status) plan.emplace_back(SetStatus{status});

  if (finished(status.phase)) {
    if (cleans_up(job, status.phase)) {
      remove_all(world.pods, plan);
    } else if (status.phase == "Completed" && job.spec.ps) {
      // Parameter servers do not end by themselves; the workers' success is the job's.
      for (const api::Pod* pod : roster.slots.at(RoleKind::kPs)) {
        const bool runs = pod && pod->phase == api::PodPhase::kRunning && !pod->meta.deleting();
        if (runs) plan.emplace_back(DeletePod{pod->meta.key, pod->meta.uid});
      }
    }
    return plan;
  }
  if (job.spec.suspend) {
    remove_all(world.pods, plan);
    return plan;
  }
  for (const api::Pod* pod : roster.surplus) {
    if (!pod->meta.deleting()) plan.emplace_back(DeletePod{pod->meta.key, pod->meta.uid});
  }
  // What holds a job up holds up only pods that are not there yet.
  if (!blocker.reason.empty() && missing(roster) == total_replicas(job.spec)) return plan;
  create_missing(job, roster, plan);
  release_all(job, roster, world, plan);
  return plan;
}

}  // namespace paddle::controllers
