// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/template_change.h"

#include <algorithm>

#include "controllers/paddle_job/decide/pods/pod_facts.h"
#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/objects/template_hash.h"

namespace paddle::controllers::paddle_job {
namespace {

// A pod that counts, with the hash that its operator gave it; empty: none.
std::string stored_hash(const GroupSlots& group, size_t index) {
  const api::Pod* pod = group.pods[index];
  if (!pod || group.done[index] || pod->meta.deleting()) return {};
  return annotation(pod->meta, kTemplateHashAnnotation);
}

int outdated_pods(const api::PaddleJob& job, const GroupSlots& group) {
  std::optional<TemplateHash> current;
  int count = 0;
  for (size_t i = 0; i < group.pods.size(); ++i) {
    const std::string stored = stored_hash(group, i);
    if (stored.empty()) continue;
    if (!current) current.emplace(job, group.spec);
    if (stored != current->of_pod(static_cast<int>(i))) ++count;
  }
  return count;
}

}  // namespace

TemplateChange template_change(const api::PaddleJob& job, const ReplicaSlots& slots) {
  TemplateChange change;
  for (const GroupSlots& group : slots.groups) {
    const int count = outdated_pods(job, group);
    if (count == 0) continue;
    change.pods += count;
    change.groups.push_back(group.spec.name);
  }
  return change;
}

bool any_program_started(const ReplicaSlots& slots) {
  return any_done(slots) || any_pod(slots, [](const api::Pod& pod) {
           return pod.phase != api::PodPhase::kPending ||
                  std::ranges::any_of(pod.containers, [](const api::ContainerStatus& c) {
                    return c.state != api::ContainerStatus::State::kWaiting || c.restarts > 0;
                  });
         });
}

bool restart_requested(const api::PaddleJob& job) {
  const std::string request = annotation(job.meta, kRestartAnnotation);
  return !request.empty() && request != job.status.restart_request;
}

std::string update_message(const api::PaddleJob& job, const TemplateChange& change) {
  std::string names;
  for (const std::string& name : change.groups) names += (names.empty() ? "" : ", ") + name;
  return "the template of " + names + " was edited while the job ran, and " +
         std::to_string(change.pods) + (change.pods == 1 ? " pod keeps" : " pods keep") +
         " the previous one until the job restarts; to restart all " +
         std::to_string(total_replicas(job.spec)) + " pods now, run kubectl annotate pdj " +
         job.meta.key.name + " " + kRestartAnnotation + "=NEW_VALUE --overwrite";
}

}  // namespace paddle::controllers::paddle_job
