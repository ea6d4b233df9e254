// SPDX-License-Identifier: Apache-2.0
//
// The earlier of two appointments, either of which may be none.

#pragma once

#include <algorithm>
#include <optional>

#include "base/clock.h"

namespace paddle::controllers {

inline void soonest(std::optional<WallTime>& kept, const std::optional<WallTime>& other) {
  if (other) kept = kept ? std::min(*kept, *other) : *other;
}

}  // namespace paddle::controllers
