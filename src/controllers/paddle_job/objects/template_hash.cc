// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/objects/template_hash.h"

#include <nlohmann/json.hpp>

#include "base/stable_hash.h"
#include "controllers/paddle_job/objects/peer_config_map.h"
#include "controllers/paddle_job/spec/elastic.h"

namespace paddle::controllers::paddle_job {
namespace {

api::Json samples_of(const api::SampleSetMount& ref, const ReplicaGroup& group) {
  api::Json samples{{"gate", ref.gate.has_value()}};
  if (group.kind != RoleKind::kWorker) return samples;
  samples["name"] = ref.name;
  samples["mountPath"] = ref.mount_path;
  samples["affinity"] = ref.affinity;
  samples["readOnly"] = ref.read_only;
  samples["containers"] = ref.containers;
  return samples;
}

}  // namespace

TemplateHash::TemplateHash(const api::PaddleJob& job, const ReplicaGroup& group)
    : first_trainer_(group.first.trainer) {
  api::Json parts{{"restartPolicy", group.restart_policy},
                  {"intranet", job.spec.intranet},
                  {"role", training_role(job.spec, group)}};
  if (group.pod_template) parts["template"] = *group.pod_template;
  // Trainers are told how many there may be. Without a range it is the replicas, which change
  // often.
  if (const std::string np = elastic_np(job.spec);
      job.spec.elastic && np.find(':') != std::string::npos) {
    parts["elastic"] = np;
  }
  if (job.spec.scheduling_policy && !job.spec.scheduling_policy->priority_class.empty()) {
    parts["priorityClass"] = job.spec.scheduling_policy->priority_class;
  }
  if (job.spec.sample_set) parts["samples"] = samples_of(*job.spec.sample_set, group);
  group_ = stable_hash_hex(parts.dump(-1, ' ', false, api::Json::error_handler_t::replace));
  // Worker 0 of a Service job has the names of all workers in its environment; those of an elastic
  // job come and go.
  const bool has_list = uses_services(job.spec) && group.kind == RoleKind::kWorker &&
                        group.first.of_kind == 0 && !job.spec.elastic;
  if (has_list) first_worker_ = shape_of(job);
}

std::string TemplateHash::of_pod(int index) const {
  std::string text = group_ + "/" + std::to_string(first_trainer_ + index);
  if (index == 0) text += "/" + first_worker_;
  return stable_hash_hex(text);
}

}  // namespace paddle::controllers::paddle_job
