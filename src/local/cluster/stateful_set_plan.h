// SPDX-License-Identifier: Apache-2.0
//
// Decides the next actions for one StatefulSet. Pure.
//
// Pods have the names <set>-0 ... <set>-(n-1). OrderedReady: the next pod is created when all
// before it are ready; Parallel: all at once. Surplus pods go from the highest number down. A pod
// that has failed, or ended although it should not, is replaced; one of an older template too
// (unless OnDelete), the highest first, one at a time, and only while the others are ready.

#pragma once

#include <string>
#include <variant>
#include <vector>

#include "local/cluster/stateful_set.h"

namespace paddle::local {

struct CreateMember {
  int index = 0;
  bool operator==(const CreateMember&) const = default;
};
struct DeleteMember {
  api::ObjectKey key{};
  std::string uid{};
  std::string why{};
  bool operator==(const DeleteMember&) const = default;
};
struct SetStatefulStatus {
  StatefulSetStatus status{};
  bool operator==(const SetStatefulStatus&) const = default;
};
using MemberAction = std::variant<CreateMember, DeleteMember, SetStatefulStatus>;
using MemberPlan = std::vector<MemberAction>;

// `pods`: those that the set controls, in any order.
MemberPlan desired_members(const StatefulSet& set, const std::vector<MemberPod>& pods);

}  // namespace paddle::local
