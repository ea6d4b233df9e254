// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/discovery.h"

#include <nlohmann/json.hpp>

#include "local/api_server/kinds.h"
#include "local/api_server/openapi.h"

namespace paddle::local {
namespace {

using api::Json;

constexpr const char* kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

// Has no kinds here, only the subresource by which pods are evicted; clients look for the group.
constexpr const char* kPolicy = "policy";

std::vector<GroupVersion> served_groups() {
  std::vector<GroupVersion> all = group_versions();
  all.push_back({kPolicy, "v1"});
  return all;
}

Json verbs_of_kind() {
  return Json::array(
      {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"});
}

Json verbs_of(const std::string& subresource) {
  if (subresource == "binding" || subresource == "eviction") return Json::array({"create"});
  if (subresource == "log") return Json::array({"get"});
  if (subresource == "finalize") return Json::array({"update"});
  return Json::array({"get", "patch", "update"});
}

// The kind of a subresource, where it differs from its parent's.
Json kind_of_subresource(const Kind& kind, const std::string& subresource) {
  if (subresource == "scale") {
    return {{"group", "autoscaling"}, {"version", "v1"}, {"kind", "Scale"}};
  }
  if (subresource == "eviction")
    return {{"group", "policy"}, {"version", "v1"}, {"kind", "Eviction"}};
  const std::string name = subresource == "binding" ? "Binding" : kind.resource.kind;
  return {{"group", kind.resource.group}, {"version", kind.resource.version}, {"kind", name}};
}

Json version_info() {
  return {{"major", "1"},    {"minor", "34"},           {"gitVersion", "v1.34.4+paddle-local"},
          {"gitCommit", ""}, {"gitTreeState", "clean"}, {"buildDate", "1970-01-01T00:00:00Z"},
          {"goVersion", ""}, {"compiler", "c++"},       {"platform", "linux/amd64"}};
}

Json resource_list(const std::string& group, const std::string& version) {
  Json resources = Json::array();
  for (const Kind& kind : all_kinds()) {
    if (kind.resource.group != group || kind.resource.version != version) continue;
    Json one{{"name", kind.resource.plural},
             {"singularName", kind.singular},
             {"namespaced", kind.resource.namespaced},
             {"kind", kind.resource.kind},
             {"verbs", verbs_of_kind()}};
    if (!kind.short_names.empty()) one["shortNames"] = kind.short_names;
    if (!kind.categories.empty()) one["categories"] = kind.categories;
    resources.push_back(std::move(one));
    for (const auto& subresource : kind.subresources) {
      Json speaks = kind_of_subresource(kind, subresource);
      Json sub{{"name", kind.resource.plural + "/" + subresource},
               {"singularName", ""},
               {"namespaced", kind.resource.namespaced},
               {"kind", speaks["kind"]},
               {"verbs", verbs_of(subresource)}};
      if (speaks["group"] != group) {
        sub["group"] = speaks["group"];
        sub["version"] = speaks["version"];
      }
      resources.push_back(std::move(sub));
    }
  }
  const GroupVersion wanted{group, version};
  if (resources.empty() && wanted != GroupVersion{kPolicy, "v1"}) return {};
  return {{"kind", "APIResourceList"},
          {"apiVersion", "v1"},
          {"groupVersion", group.empty() ? version : group + "/" + version},
          {"resources", std::move(resources)}};
}

Json group_of(const std::string& name) {
  Json versions = Json::array();
  for (const auto& [group, version] : served_groups()) {
    if (group == name) {
      versions.push_back({{"groupVersion", group + "/" + version}, {"version", version}});
    }
  }
  if (versions.empty()) return {};
  return {{"name", name}, {"versions", versions}, {"preferredVersion", versions[0]}};
}

Json group_list() {
  Json groups = Json::array();
  std::string last;
  for (const auto& [group, version] : served_groups()) {
    if (group.empty() || group == last) continue;
    groups.push_back(group_of(group));
    last = group;
  }
  return {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}};
}

Json aggregated_resource(const Kind& kind) {
  const kube::Resource& r = kind.resource;
  Json one{{"resource", r.plural},
           {"responseKind", {{"group", r.group}, {"version", r.version}, {"kind", r.kind}}},
           {"scope", r.namespaced ? "Namespaced" : "Cluster"},
           {"singularResource", kind.singular},
           {"verbs", verbs_of_kind()}};
  if (!kind.short_names.empty()) one["shortNames"] = kind.short_names;
  if (!kind.categories.empty()) one["categories"] = kind.categories;
  for (const auto& subresource : kind.subresources) {
    one["subresources"].push_back({{"subresource", subresource},
                                   {"responseKind", kind_of_subresource(kind, subresource)},
                                   {"verbs", verbs_of(subresource)}});
  }
  return one;
}

// Aggregated discovery; `core` selects /api or /apis.
Json aggregated(bool core) {
  Json items = Json::array();
  for (const auto& [group, version] : served_groups()) {
    if (group.empty() != core) continue;
    Json resources = Json::array();
    for (const Kind& kind : all_kinds()) {
      if (kind.resource.group == group && kind.resource.version == version) {
        resources.push_back(aggregated_resource(kind));
      }
    }
    Json entry{{"version", version}, {"resources", resources}, {"freshness", "Current"}};
    if (items.empty() || items.back()["metadata"].value("name", "") != group) {
      Json meta = Json::object();
      if (!core) meta["name"] = group;
      items.push_back({{"metadata", meta}, {"versions", Json::array()}});
    }
    items.back()["versions"].push_back(std::move(entry));
  }
  return {{"kind", "APIGroupDiscoveryList"},
          {"apiVersion", "apidiscovery.k8s.io/v2"},
          {"metadata", Json::object()},
          {"items", std::move(items)}};
}

Reply found_or_404(const Json& body) {
  if (!body.is_null()) return json_reply(200, body);
  return failure(404, "NotFound", "the server could not find the requested resource");
}

Reply roots(bool core, std::string_view accept) {
  const bool wants_all =
      accept.find("g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList") != std::string_view::npos;
  if (wants_all) {
    Reply reply = json_reply(200, aggregated(core));
    reply.content_type = kAggregated;
    return reply;
  }
  if (!core) return json_reply(200, group_list());
  return json_reply(200, {{"kind", "APIVersions"},
                          {"versions", Json::array({"v1"})},
                          {"serverAddressByClientCIDRs", Json::array()}});
}

}  // namespace

std::optional<Reply> discover(const std::vector<std::string>& path, std::string_view accept) {
  if (path.empty()) {
    return json_reply(
        200, {{"paths", {"/api", "/apis", "/healthz", "/openapi/v3", "/readyz", "/version"}}});
  }
  const std::string& first = path[0];
  if (first == "version" && path.size() == 1) return json_reply(200, version_info());
  if (first == "openapi") return openapi(path, accept);
  if (first == "api" && path.size() == 1) return roots(true, accept);
  if (first == "api" && path.size() == 2) return found_or_404(resource_list("", path[1]));
  if (first == "apis" && path.size() == 1) return roots(false, accept);
  if (first == "apis" && path.size() == 2) {
    Json group = group_of(path[1]);
    if (!group.is_null()) {
      group["kind"] = "APIGroup";
      group["apiVersion"] = "v1";
    }
    return found_or_404(group);
  }
  if (first == "apis" && path.size() == 3) return found_or_404(resource_list(path[1], path[2]));
  return std::nullopt;
}

}  // namespace paddle::local
