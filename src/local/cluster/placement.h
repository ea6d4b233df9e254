// SPDX-License-Identifier: Apache-2.0
//
// Chooses the node of a pod: the first, by name, that is Ready, schedulable, and matches
// nodeSelector and required node affinity. A pod with scheduling gates is not placed until all
// gates are removed. Resources are not counted: on one machine the kernel shares them. Pure.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/core/meta.h"
#include "api/json/json.h"
#include "base/result.h"

namespace paddle::local {

struct NodeInfo {
  api::Meta meta{};
  bool ready = false;
  bool unschedulable = false;
  bool operator==(const NodeInfo&) const = default;
};
Result<NodeInfo> decode_node_info(const api::Json& object);

// One requirement of a node selector term: In, NotIn, Exists, DoesNotExist, Gt or Lt.
struct NodeRequirement {
  std::string key{};
  std::string op{};
  std::vector<std::string> values{};
  bool operator==(const NodeRequirement&) const = default;
};
struct NodeTerm {
  std::vector<NodeRequirement> labels{};
  std::vector<NodeRequirement> fields{};  // metadata.name
  bool operator==(const NodeTerm&) const = default;
};

struct PendingPod {
  api::Meta meta{};
  std::map<std::string, std::string> node_selector{};
  std::vector<NodeTerm> affinity{};  // one of them must match
  bool has_affinity = false;
  std::vector<std::string> gates{};
  std::string scheduler{};    // empty or default-scheduler: ours
  std::string why_waiting{};  // the message of its condition PodScheduled
  bool operator==(const PendingPod&) const = default;
};
Result<PendingPod> decode_pending_pod(const api::Json& object);

bool fits(const PendingPod& pod, const NodeInfo& node);

struct Placement {
  std::string node{};     // empty: not placed
  std::string message{};  // why not, in one sentence
  std::string reason{};   // the condition's reason
  bool operator==(const Placement&) const = default;
};
Placement place(const PendingPod& pod, std::vector<NodeInfo> nodes);

}  // namespace paddle::local
