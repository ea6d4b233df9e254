// SPDX-License-Identifier: Apache-2.0
#include "api/shared.h"

#include <algorithm>

namespace paddle::api {

const Condition* find_condition(const Conditions& conditions, std::string_view type) {
  const auto found = std::ranges::find(conditions, type, &Condition::type);
  return found == conditions.end() ? nullptr : &*found;
}

bool set_condition(Conditions& conditions, Condition wanted, WallTime now) {
  const auto found = std::ranges::find(conditions, wanted.type, &Condition::type);
  if (found == conditions.end()) {
    wanted.last_transition = now;
    conditions.push_back(std::move(wanted));
    return true;
  }
  const bool turned = found->status != wanted.status || !found->last_transition;
  wanted.last_transition = turned ? now : *found->last_transition;
  wanted.rest = found->rest;
  if (*found == wanted) return false;
  *found = std::move(wanted);
  return true;
}

}  // namespace paddle::api
