// SPDX-License-Identifier: Apache-2.0
//
// Decides how long a container that has ended waits before it is restarted. Pure.
//
//   it ran for kHealthyRun or longer      restart at once
//   it ended sooner, once in a row        restart at once
//   ... repeatedly                        after 1 s, 2 s, 4 s, ... 60 s
//   ... repeatedly, while readers wait    kImmediateRestarts times at once, then after 1 s
//
// The pauses are shorter than the kubelet's 10 s to 5 min, because a user of one machine waits for
// the result. Readers wait for a cache runtime: while it is down, every read() of a trainer blocks.

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
