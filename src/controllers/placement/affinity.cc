// SPDX-License-Identifier: Apache-2.0
#include "controllers/placement/affinity.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/json/look.h"

namespace paddle::controllers::placement {
namespace {

using api::Json;

constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
constexpr int kGreatestWeight = 100;

Json expression(const NodeLabel& label) {
  return {{"key", label.label}, {"operator", "In"}, {"values", Json::array({label.value})}};
}

Json& object_in(Json& parent, const char* key) {
  Json& found = parent[key];
  if (!found.is_object()) found = Json::object();
  return found;
}

Json& list_in(Json& parent, const char* key) {
  Json& found = parent[key];
  if (!found.is_array()) found = Json::array();
  return found;
}

Json& node_affinity(Json& pod_spec) {
  if (!pod_spec.is_object()) pod_spec = Json::object();
  return object_in(object_in(pod_spec, "affinity"), "nodeAffinity");
}

bool holds(const Json& list, const Json& item) {
  return std::ranges::find(list, item) != list.end();
}

bool matches_nothing(const Json& term) {
  const auto none = [&](const char* key) {
    const Json& list = api::look(term, key);
    return !list.is_array() || list.empty();
  };
  return none("matchExpressions") && none("matchFields");
}

}  // namespace

void require_node(Json& pod_spec, const NodeLabel& label) {
  Json& required = object_in(node_affinity(pod_spec), kRequired);
  Json& terms = list_in(required, "nodeSelectorTerms");
  const Json wanted = expression(label);
  if (terms.empty()) {
    terms.push_back({{"matchExpressions", Json::array({wanted})}});
    return;
  }
  for (Json& term : terms) {
    if (!term.is_object() || matches_nothing(term)) continue;
    Json& expressions = list_in(term, "matchExpressions");
    if (!holds(expressions, wanted)) expressions.push_back(wanted);
  }
}

void prefer_node(Json& pod_spec, const NodeLabel& label) {
  Json& wishes = list_in(node_affinity(pod_spec), kPreferred);
  const Json wish = {{"weight", kGreatestWeight},
                     {"preference", {{"matchExpressions", Json::array({expression(label)})}}}};
  if (!holds(wishes, wish)) wishes.push_back(wish);
}

}  // namespace paddle::controllers::placement
