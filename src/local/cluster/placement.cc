// SPDX-License-Identifier: Apache-2.0
#include "local/cluster/placement.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <nlohmann/json.hpp>

#include "api/json/look.h"

namespace paddle::local {
namespace {

using api::Json;

std::vector<NodeRequirement> requirements(const Json& list) {
  std::vector<NodeRequirement> out;
  if (!list.is_array()) return out;
  for (const Json& item : list) {
    NodeRequirement made{.key = api::look_text(item, "/key"),
                         .op = api::look_text(item, "/operator")};
    if (const Json& values = api::look(item, "/values"); values.is_array()) {
      for (const Json& value : values) {
        if (value.is_string()) made.values.push_back(value.get<std::string>());
      }
    }
    out.push_back(std::move(made));
  }
  return out;
}

std::optional<std::int64_t> number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool matches(const NodeRequirement& wanted, const std::optional<std::string>& value) {
  const auto listed = [&] {
    return value && std::ranges::find(wanted.values, *value) != wanted.values.end();
  };
  if (wanted.op == "In") return listed();
  if (wanted.op == "NotIn") return !listed();
  if (wanted.op == "Exists") return value.has_value();
  if (wanted.op == "DoesNotExist") return !value.has_value();
  if (!value || wanted.values.size() != 1) return false;
  const auto have = number(*value);
  const auto limit = number(wanted.values.front());
  if (!have || !limit) return false;
  return wanted.op == "Gt" ? *have > *limit : wanted.op == "Lt" && *have < *limit;
}

std::optional<std::string> label(const NodeInfo& node, const std::string& key) {
  const auto found = node.meta.labels.find(key);
  return found == node.meta.labels.end() ? std::nullopt : std::optional(found->second);
}

bool matches(const NodeTerm& term, const NodeInfo& node) {
  if (term.labels.empty() && term.fields.empty()) return false;  // as Kubernetes has it
  return std::ranges::all_of(
             term.labels, [&](const auto& each) { return matches(each, label(node, each.key)); }) &&
         std::ranges::all_of(term.fields, [&](const auto& each) {
           return each.key == "metadata.name" && matches(each, std::optional(node.meta.key.name));
         });
}

std::string requested_labels(const PendingPod& pod) {
  std::string labels;
  for (const auto& [key, value] : pod.node_selector) {
    labels += (labels.empty() ? "" : ", ") + key + "=" + value;
  }
  if (labels.empty()) return "the labels that the node affinity of the pod requires";
  return "the labels that the pod requires (" + labels + ")";
}

}  // namespace

Result<NodeInfo> decode_node_info(const Json& object) {
  NodeInfo node;
  TRY(node.meta, api::decode_meta(object));
  node.unschedulable = api::look(object, "/spec/unschedulable") == true;
  if (const Json& conditions = api::look(object, "/status/conditions"); conditions.is_array()) {
    for (const Json& condition : conditions) {
      if (api::look_text(condition, "/type") == "Ready")
        node.ready = api::look_text(condition, "/status") == "True";
    }
  }
  return node;
}

Result<PendingPod> decode_pending_pod(const Json& object) {
  PendingPod pod;
  TRY(pod.meta, api::decode_meta(object));
  pod.scheduler = api::look_text(object, "/spec/schedulerName");
  if (const Json& gates = api::look(object, "/spec/schedulingGates"); gates.is_array()) {
    for (const Json& gate : gates) pod.gates.push_back(api::look_text(gate, "/name"));
  }
  if (const Json& wanted = api::look(object, "/spec/nodeSelector"); wanted.is_object()) {
    for (const auto& [key, value] : wanted.items()) {
      if (value.is_string()) pod.node_selector[key] = value.get<std::string>();
    }
  }
  const Json& affinity = api::look(
      object, "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution");
  pod.has_affinity = affinity.is_object();
  if (const Json& terms = api::look(affinity, "/nodeSelectorTerms"); terms.is_array()) {
    for (const Json& term : terms) {
      pod.affinity.push_back({.labels = requirements(api::look(term, "/matchExpressions")),
                              .fields = requirements(api::look(term, "/matchFields"))});
    }
  }
  if (const Json& conditions = api::look(object, "/status/conditions"); conditions.is_array()) {
    for (const Json& condition : conditions) {
      if (api::look_text(condition, "/type") == "PodScheduled")
        pod.why_waiting = api::look_text(condition, "/message");
    }
  }
  return pod;
}

bool fits(const PendingPod& pod, const NodeInfo& node) {
  for (const auto& [key, value] : pod.node_selector) {
    if (label(node, key) != value) return false;
  }
  if (!pod.has_affinity) return true;
  return std::ranges::any_of(pod.affinity,
                             [&](const NodeTerm& term) { return matches(term, node); });
}

Placement place(const PendingPod& pod, std::vector<NodeInfo> nodes) {
  constexpr const char* kNoNode = "Unschedulable";
  if (!pod.gates.empty()) {
    return {.message = "waiting until the scheduling gate " + pod.gates.front() +
                       (pod.gates.size() > 1 ? " and others are" : " is") + " removed",
            .reason = "SchedulingGated"};
  }
  std::erase_if(nodes, [](const NodeInfo& node) { return !node.ready || node.unschedulable; });
  if (nodes.empty()) {
    return {.message = "no node is ready; start one, or wait until one is", .reason = kNoNode};
  }
  std::erase_if(nodes, [&](const NodeInfo& node) { return !fits(pod, node); });
  if (nodes.empty()) {
    return {
        .message = "no node has " + requested_labels(pod) + "; label the node or change the pod",
        .reason = kNoNode};
  }
  return {.node = std::ranges::min(nodes, {}, [](const NodeInfo& node) {
                    return node.meta.key;
                  }).meta.key.name};
}

}  // namespace paddle::local
