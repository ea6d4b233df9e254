// SPDX-License-Identifier: Apache-2.0
//
// Adds one wish about nodes to those a user already has. Pure; adding the same twice changes
// nothing.

#pragma once

#include <string>

#include "api/json/json.h"

namespace paddle::controllers::placement {

// A label that nodes may carry.
struct NodeLabel {
  std::string label{};
  std::string value{};
  bool operator==(const NodeLabel&) const = default;
};

// The pod runs only on marked nodes, and still only where the user wants: required terms are ORed,
// so the mark goes into every one of them. A term without expressions matches no node, and is left
// alone: with the mark it would match some.
void require_node(api::Json& pod_spec, const NodeLabel& label);

// The pod runs on a marked node when it can.
void prefer_node(api::Json& pod_spec, const NodeLabel& label);

}  // namespace paddle::controllers::placement
