// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/objects/pod_group.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/core/quantity.h"
#include "api/json/look.h"
#include "api/phases.h"
#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/reasons.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::Json;

const api::SchedulingPolicy& policy_of(const api::PaddleJobSpec& spec) {
  static const api::SchedulingPolicy kNone{};
  return spec.scheduling_policy ? *spec.scheduling_policy : kNone;
}

std::string scheduler_of(const ReplicaGroup& group) {
  return group.pod_template ? api::look_text(*group.pod_template, "/spec/schedulerName")
                            : std::string();
}

Result<Json> resources_of_all_pods(const api::PaddleJobSpec& spec) {
  api::Quantities sum;
  for (const ReplicaGroup& group : replica_groups(spec)) {
    if (!group.pod_template) continue;
    auto one = api::requests_of_pod(api::look(*group.pod_template, "spec"));
    if (!one) return std::move(one).error().in(group.name + " template");
    for (auto& [name, quantity] : *one) quantity = quantity.times(group.replicas);
    api::add(sum, *one);
  }
  return api::encode(sum);
}

// The fields that we set; those that the policy leaves open are absent.
Result<Json> wanted_spec(const api::PaddleJobSpec& spec, Reservation reservation) {
  const auto& policy = policy_of(spec);
  Json out = {{"minMember", policy.min_available.value_or(total_replicas(spec))}};
  if (reservation == Reservation::kNone) {
    out["minResources"] = nullptr;
  } else if (policy.min_resources && policy.min_resources->is_object()) {
    out["minResources"] = *policy.min_resources;
  } else {
    TRY(out["minResources"], resources_of_all_pods(spec));
  }
  if (!policy.queue.empty()) out["queue"] = policy.queue;
  if (!policy.priority_class.empty()) out["priorityClassName"] = policy.priority_class;
  return out;
}

bool same_resources(const Json& a, const Json& b) {
  if (a == b) return true;
  const auto left = api::decode_quantities(a);
  const auto right = api::decode_quantities(b);
  return left && right && *left == *right;
}

// A merge patch from `from` to `to`: resources that are no longer wanted become null.
Json resources_patch(const Json& from, const Json& to) {
  Json patch = to;
  if (!from.is_object() || !to.is_object()) return patch;
  for (const auto& [name, value] : from.items()) {
    if (!to.contains(name)) patch[name] = nullptr;
  }
  return patch;
}

}  // namespace

bool uses_pod_group(const api::PaddleJobSpec& spec, const std::string& scheduling) {
  return scheduling == kVolcano &&
         std::ranges::all_of(replica_groups(spec), [&](const ReplicaGroup& group) {
           const std::string scheduler = scheduler_of(group);
           return scheduler.empty() || scheduler == kVolcano;
         });
}

std::string why_no_gang(const api::PaddleJobSpec& spec, const std::string& scheduling) {
  if (!spec.scheduling_policy || uses_pod_group(spec, scheduling)) return {};
  const auto& policy = *spec.scheduling_policy;
  std::string fields;
  const auto name = [&](const char* field, bool is_set) {
    if (is_set) fields += (fields.empty() ? "schedulingPolicy." : ", ") + std::string(field);
  };
  name("minAvailable", policy.min_available.has_value());
  name("queue", !policy.queue.empty());
  name("minResources", static_cast<bool>(policy.min_resources));
  if (fields.empty()) return {};
  if (scheduling != kVolcano) {
    return fields + " has no effect: the operator runs without --scheduling=volcano, so pods are " +
           "scheduled one by one and not as a gang";
  }
  for (const ReplicaGroup& group : replica_groups(spec)) {
    const std::string scheduler = scheduler_of(group);
    if (scheduler.empty() || scheduler == kVolcano) continue;
    return fields + " has no effect: the template of " + group.name + " names the scheduler " +
           scheduler + "; remove its schedulerName to schedule the job as a gang with Volcano";
  }
  return {};
}

Result<PodGroupSummary> decode_pod_group(const Json& object) {
  TRY(api::Meta meta, api::decode_meta(object));
  return PodGroupSummary{.meta = std::move(meta),
                         .phase = api::look_text(object, "/status/phase"),
                         .spec = api::Opaque(api::look(object, "spec"))};
}

Result<Json> pod_group_for(const api::PaddleJob& job, Reservation reservation) {
  TRY(Json spec, wanted_spec(job.spec, reservation));
  if (spec["minResources"].is_null()) spec.erase("minResources");
  return Json{{"apiVersion", kPodGroupApiVersion},
              {"kind", kPodGroupKind},
              {"metadata", api::encode_meta({.key = job.meta.key,
                                             .labels = {{kJobNameLabel, job.meta.key.name}},
                                             .owners = {owner_reference(job)}})},
              {"spec", std::move(spec)}};
}

Result<std::optional<Json>> pod_group_patch(const api::PaddleJob& job,
                                            const PodGroupSummary& stored,
                                            Reservation reservation) {
  if (!belongs_to(stored.meta, job) || stored.meta.deleting()) return std::optional<Json>();
  TRY(const Json wanted, wanted_spec(job.spec, reservation));
  const Json found = stored.spec && stored.spec->is_object() ? *stored.spec : Json::object();

  Json patch = Json::object();
  if (api::look(found, "minMember") != wanted["minMember"]) {
    patch["minMember"] = wanted["minMember"];
  }
  if (const Json& has = api::look(found, "minResources");
      !same_resources(has, wanted["minResources"])) {
    patch["minResources"] = resources_patch(has, wanted["minResources"]);
  }
  // Volcano sets a queue when the policy leaves it open, but never a priority class.
  if (wanted.contains("queue") && api::look(found, "queue") != wanted["queue"]) {
    patch["queue"] = wanted["queue"];
  }
  const std::string priority = api::look_text(wanted, "priorityClassName");
  if (api::look_text(found, "priorityClassName") != priority) {
    patch["priorityClassName"] = priority.empty() ? Json() : Json(priority);
  }
  if (patch.empty()) return std::optional<Json>();
  return std::optional<Json>(Json{
      {"metadata", {{"uid", stored.meta.uid}, {"resourceVersion", stored.meta.resource_version}}},
      {"spec", std::move(patch)}});
}

std::optional<BlockReason> pod_group_block_reason(const api::PaddleJob& job,
                                                  const std::optional<PodGroupSummary>& stored) {
  if (stored && (stored->phase == api::pod_group_phase::kInqueue ||
                 stored->phase == api::pod_group_phase::kRunning)) {
    return std::nullopt;
  }
  const std::string phase = stored && !stored->phase.empty() ? stored->phase : "new";
  const std::string& queue = policy_of(job.spec).queue;
  return BlockReason{reasons::kPodGroupNotAdmitted,
                     "waiting for Volcano to admit the PodGroup " + job.meta.key.name +
                         ", which is " + phase + "; the queue " +
                         (queue.empty() ? "default" : queue) +
                         " needs free capacity for its minResources"};
}

BlockReason volcano_is_missing() {
  return {reasons::kVolcanoMissing,
          "the operator runs with --scheduling=volcano, but this cluster has no PodGroups "
          "(scheduling.volcano.sh/v1beta1); install Volcano or remove the flag"};
}

void join_pod_group(Json& pod, const api::PaddleJob& job, const ReplicaGroup& group) {
  pod["spec"]["schedulerName"] = kVolcano;
  Json& annotations = pod["metadata"]["annotations"];
  annotations["scheduling.k8s.io/group-name"] = job.meta.key.name;
  annotations["volcano.sh/task-spec"] = is_task(group) ? group.type : group.name;
  annotations["volcano.sh/job-name"] = job.meta.key.name;
  annotations["volcano.sh/job-version"] = std::to_string(job.status.epoch);
  annotations["volcano.sh/queue-name"] = policy_of(job.spec).queue;
}

}  // namespace paddle::controllers::paddle_job
