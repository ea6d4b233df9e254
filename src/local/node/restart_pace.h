// SPDX-License-Identifier: Apache-2.0
//
// How long a container that has ended waits before it is started again. Pure.
//
//   it ran for kRanWell or longer     at once
//   it ended sooner, once in a row    at once
//   ... again and again               after 1 s, 2 s, 4 s, ... 60 s
//   ... and others wait for it        at once for kPatience times, then after 1 s
//
// A machine of one's own wants a sooner answer than the kubelet's 10 s to 5 min. Others wait for a
// cache runtime: while it is away, every read() of a trainer stands still.

#pragma once

#include <chrono>

#include "local/node/pod_spec.h"

namespace paddle::local {

inline constexpr std::chrono::seconds kRanWell{5};
inline constexpr int kPatience = 10;

struct RestartPace {
  std::chrono::milliseconds pause{};
  int early = 0;  // ends in a row that came soon after the start, with this one
  bool operator==(const RestartPace&) const = default;
};

// `early`: of the end before, 0 at first. `ran`: from the start to the end.
RestartPace pace_after(int early, std::chrono::milliseconds ran, bool others_wait);

// Readers meet it in a session (docs/design/0006), so they stand still without it.
bool others_wait_for(const PodSpec& pod);

}  // namespace paddle::local
