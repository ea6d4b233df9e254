// SPDX-License-Identifier: Apache-2.0
#include "local/cluster/stateful_set.h"

#include <cstdio>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "base/stable_hash.h"

namespace paddle::local {
using api::Json;

Result<StatefulSet> decode_stateful_set(const Json& object) {
  StatefulSet set;
  TRY(set.meta, api::decode_meta(object));
  const Json& shape = api::look(object, "/spec/template");
  if (!shape.is_object()) return Error{Code::kInvalid, "spec.template must be an object"};
  if (const Json& claims = api::look(object, "/spec/volumeClaimTemplates");
      claims.is_array() && !claims.empty()) {
    return Error{
        Code::kInvalid,
        "spec.volumeClaimTemplates: not supported on one machine; use emptyDir or hostPath"};
  }
  set.pod_template = api::Opaque(shape);
  set.replicas = static_cast<int>(api::look_integer(object, "/spec/replicas", 1));
  set.service = api::look_text(object, "/spec/serviceName");
  set.parallel = api::look_text(object, "/spec/podManagementPolicy") == "Parallel";
  set.on_delete = api::look_text(object, "/spec/updateStrategy/type") == "OnDelete";
  set.status = {
      .replicas = static_cast<int>(api::look_integer(object, "/status/replicas", -1)),
      .ready = static_cast<int>(api::look_integer(object, "/status/readyReplicas", 0)),
      .current = static_cast<int>(api::look_integer(object, "/status/currentReplicas", 0)),
      .observed_generation = api::look_integer(object, "/status/observedGeneration", 0),
      .revision = api::look_text(object, "/status/updateRevision")};
  return set;
}

Result<MemberPod> decode_member_pod(const Json& object) {
  MemberPod member;
  TRY(member.pod, api::decode_pod(object));
  const auto found = member.pod.meta.labels.find(kRevisionLabel);
  if (found != member.pod.meta.labels.end()) member.revision = found->second;
  return member;
}

std::string revision_of(const StatefulSet& set) {
  char digits[20];
  const std::string text = api::dump_json(*set.pod_template);
  std::snprintf(digits, sizeof digits, "%010llx",
                static_cast<unsigned long long>(stable_hash(text) & 0xff'ffff'ffff));
  return set.meta.key.name + "-" + digits;
}

std::string member_name(const StatefulSet& set, int index) {
  return set.meta.key.name + "-" + std::to_string(index);
}

Json member_pod(const StatefulSet& set, int index) {
  const std::string name = member_name(set, index);
  Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", Json::object()}};
  const Json& shape = *set.pod_template;
  if (const Json& meta = api::look(shape, "/metadata"); meta.is_object()) {
    for (const char* field : {"labels", "annotations", "finalizers"}) {
      if (meta.contains(field)) pod["metadata"][field] = meta.at(field);
    }
  }
  Json& meta = pod["metadata"];
  meta["name"] = name;
  meta["namespace"] = set.meta.key.ns;
  meta["labels"][kRevisionLabel] = revision_of(set);
  meta["labels"][kPodNameLabel] = name;
  meta["labels"][kPodIndexLabel] = std::to_string(index);
  meta["ownerReferences"] = Json::array({Json{{"apiVersion", "apps/v1"},
                                              {"kind", "StatefulSet"},
                                              {"name", set.meta.key.name},
                                              {"uid", set.meta.uid},
                                              {"controller", true},
                                              {"blockOwnerDeletion", true}}});
  pod["spec"] = api::look(shape, "/spec").is_object() ? api::look(shape, "/spec") : Json::object();
  pod["spec"]["hostname"] = name;
  if (!set.service.empty()) pod["spec"]["subdomain"] = set.service;
  return pod;
}

}  // namespace paddle::local
