// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/defaults.h"

#include <nlohmann/json.hpp>

#include "api/phases.h"
#include "base/base64.h"
#include "kube/rules/object_rules.h"
#include "local/api_server/kinds.h"

namespace paddle::local {
namespace {

using api::Json;

void set_if_absent(Json& object, const char* field, const Json& value) {
  if (!object.contains(field) || object[field].is_null()) object[field] = value;
}

Result<Json*> part(Json& object, const char* field) {
  Json& value = object[field];
  if (value.is_null()) value = Json::object();
  if (!value.is_object()) {
    return Error{Code::kInvalid, std::string(field) + ": Invalid value: must be an object"};
  }
  return &value;
}

Result<> check_containers(const Json& spec) {
  const auto list = spec.find("containers");
  if (list == spec.end() || !list->is_array() || list->empty()) {
    return Error{Code::kInvalid, "spec.containers: Required value"};
  }
  for (const Json& container : *list) {
    const bool named = container.is_object() && container.contains("name") &&
                       container["name"].is_string() && !container["name"].empty();
    if (!named) return Error{Code::kInvalid, "spec.containers[].name: Required value"};
  }
  return Done{};
}

Result<> fill_pod(Json& pod) {
  TRY(Json * spec, part(pod, "spec"));
  CHECK_DONE(check_containers(*spec));
  set_if_absent(*spec, "restartPolicy", "Always");
  set_if_absent(*spec, "terminationGracePeriodSeconds", 30);
  set_if_absent(*spec, "dnsPolicy", "ClusterFirst");
  set_if_absent(*spec, "enableServiceLinks", true);
  TRY(Json * status, part(pod, "status"));
  set_if_absent(*status, "phase", api::pod_phase::kPending);
  set_if_absent(*status, "qosClass", "BestEffort");
  return Done{};
}

Result<> fill_service(Json& service) {
  TRY(Json * spec, part(service, "spec"));
  set_if_absent(*spec, "type", "ClusterIP");
  set_if_absent(*spec, "sessionAffinity", "None");
  if (!spec->contains("ports") || !(*spec)["ports"].is_array()) return Done{};
  for (Json& port : (*spec)["ports"]) {
    if (!port.is_object() || !port.contains("port")) {
      return Error{Code::kInvalid, "spec.ports[].port: Required value"};
    }
    set_if_absent(port, "protocol", "TCP");
    set_if_absent(port, "targetPort", Json(port["port"]));
  }
  return Done{};
}

Result<> fill_secret(Json& secret) {
  set_if_absent(secret, "type", "Opaque");
  const auto plain = secret.find("stringData");
  if (plain != secret.end() && plain->is_object()) {
    const Json given = *plain;
    TRY(Json * data, part(secret, "data"));
    for (const auto& [name, value] : given.items()) {
      if (!value.is_string()) {
        return Error{Code::kInvalid, "stringData[" + name + "]: Invalid value: must be a string"};
      }
      (*data)[name] = base64_encode(value.get_ref<const std::string&>());
    }
  }
  secret.erase("stringData");
  return Done{};
}

Result<> fill_phase(Json& object, const char* phase) {
  TRY(Json * status, part(object, "status"));
  set_if_absent(*status, "phase", phase);
  return Done{};
}

Result<> fill_namespace(Json& object) {
  TRY(Json * spec, part(object, "spec"));
  set_if_absent(*spec, "finalizers", Json::array({"kubernetes"}));
  object["metadata"]["labels"]["kubernetes.io/metadata.name"] = kube::meta_text(object, "name");
  return fill_phase(object, api::namespace_phase::kActive);
}

}  // namespace

Result<Json> with_defaults(const kube::Resource& resource, Json object) {
  Result<> done = Done{};
  if (resource == kube::resources::kPods) done = fill_pod(object);
  if (resource == kube::resources::kServices) done = fill_service(object);
  if (resource == kube::resources::kSecrets) done = fill_secret(object);
  if (resource == kube::resources::kNamespaces) done = fill_namespace(object);
  if (resource == resources::kClaims) done = fill_phase(object, api::claim_phase::kPending);
  if (resource == resources::kPersistentVolumes)
    done = fill_phase(object, api::volume_phase::kPending);
  if (!done) return std::move(done).error();
  return object;
}

}  // namespace paddle::local
