// SPDX-License-Identifier: Apache-2.0
//
// How long a container that has ended waits before it is started again. Pure.
//
//   it ran for kHealthyRun or longer  at once
//   it ended sooner, once in a row    at once
//   ... again and again               after 1 s, 2 s, 4 s, ... 60 s
//   ... and others wait for it        at once for kImmediateRestarts times, then after 1 s
//
// A machine of one's own wants a sooner answer than the kubelet's 10 s to 5 min. Others wait for a
// cache runtime: while it is away, every read() of a trainer stands still.

#pragma once

#include <chrono>

#include "local/node/pod_spec.h"

namespace paddle::local {

inline constexpr std::chrono::seconds kHealthyRun{5};
inline constexpr int kImmediateRestarts = 10;

struct RestartBackoff {
  std::chrono::milliseconds pause{};
  int early = 0;  // ends in a row that came soon after the start, with this one
  bool operator==(const RestartBackoff&) const = default;
};

// `early`: of the end before, 0 at first. `ran`: from the start to the end.
RestartBackoff backoff_after(int early, std::chrono::milliseconds ran, bool readers_wait);

// Readers meet it in a session (docs/design/0006), so they stand still without it.
bool readers_wait_for(const PodSpec& pod);

}  // namespace paddle::local
