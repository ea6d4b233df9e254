// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/openapi.h"

#include <nlohmann/json.hpp>

#include "local/api_server/kinds.h"

namespace paddle::local {
namespace {

using api::Json;

std::string root_of(const GroupVersion& gv) {
  return gv.group.empty() ? "api/" + gv.version : "apis/" + gv.group + "/" + gv.version;
}

Json parameter(const char* name) {
  return {{"name", name}, {"in", "query"}, {"schema", {{"type", "string"}}}};
}

Json operation(const Kind& kind, const char* action, bool patch) {
  const kube::Resource& r = kind.resource;
  Json made{{"x-kubernetes-action", action},
            {"x-kubernetes-group-version-kind",
             {{"group", r.group}, {"version", r.version}, {"kind", r.kind}}},
            {"parameters", Json::array({parameter("dryRun"), parameter("fieldManager"),
                                        parameter("fieldValidation")})},
            {"responses", {{"200", {{"description", "OK"}}}}}};
  if (patch) {
    Json content{{"application/json-patch+json", Json::object()},
                 {"application/merge-patch+json", Json::object()},
                 {"application/apply-patch+yaml", Json::object()}};
    made["requestBody"] = {{"content", std::move(content)}};
  }
  return made;
}

Json schema_of(const Kind& kind) {
  const kube::Resource& r = kind.resource;
  Json schema{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  if (kind.ours) {
    const auto& about = api::describe(*kind.ours);
    if (about.schema) schema = *about.schema;
  }
  schema["x-kubernetes-group-version-kind"] =
      Json::array({{{"group", r.group}, {"version", r.version}, {"kind", r.kind}}});
  return schema;
}

Json document(const GroupVersion& gv) {
  Json paths = Json::object();
  Json schemas = Json::object();
  for (const Kind& kind : all_kinds()) {
    const kube::Resource& r = kind.resource;
    if (r.group != gv.group || r.version != gv.version) continue;
    const std::string collection =
        "/" + root_of(gv) + (r.namespaced ? "/namespaces/{namespace}/" : "/") + r.plural;
    paths[collection] = {{"post", operation(kind, "post", false)}};
    paths[collection + "/{name}"] = {{"get", operation(kind, "get", false)},
                                     {"put", operation(kind, "put", false)},
                                     {"patch", operation(kind, "patch", true)}};
    const std::string group = gv.group.empty() ? "core" : gv.group;
    schemas["io.k8s." + group + "." + gv.version + "." + r.kind] = schema_of(kind);
  }
  return {{"openapi", "3.0.0"},
          {"info", {{"title", "Paddle Operator, one machine"}, {"version", "v1.34.4"}}},
          {"paths", std::move(paths)},
          {"components", {{"schemas", std::move(schemas)}}}};
}

}  // namespace

Reply openapi(const std::vector<std::string>& path, std::string_view accept) {
  Reply absent = failure(404, "NotFound", "the server could not find the requested resource");
  if (path.size() < 2 || path[1] != "v3") return absent;
  const bool json = accept.empty() || accept.find("json") != std::string_view::npos ||
                    accept.find("*/*") != std::string_view::npos;
  if (!json) return failure(406, "NotAcceptable", "only application/json is served");
  if (path.size() == 2) {
    Json paths = Json::object();
    for (const auto& gv : group_versions()) {
      paths[root_of(gv)] = {{"serverRelativeURL", "/openapi/v3/" + root_of(gv)}};
    }
    return json_reply(200, {{"paths", std::move(paths)}});
  }
  std::string wanted = path[2];
  for (size_t i = 3; i < path.size(); ++i) wanted += "/" + path[i];
  for (const auto& gv : group_versions()) {
    if (root_of(gv) == wanted) return json_reply(200, document(gv));
  }
  return absent;
}

}  // namespace paddle::local
