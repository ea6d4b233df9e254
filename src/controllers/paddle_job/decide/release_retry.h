// SPDX-License-Identifier: Apache-2.0
//
// When a pod was let go, and how often it had to be told: "<tellings> <time>". Pure.
//
// A kubelet may lose the refresh of a pod's files: asked for while an earlier one is under way, it
// is forgotten, and the coordinator would wait for the kubelet's next look at the pod, a minute and
// more. So whoever still coordinates a while after its release is told again; any change of the pod
// will do, and the stamp is one. Pauses double, so that a node that hears nothing costs little.

#pragma once

#include <string>

#include "base/clock.h"

namespace paddle::controllers::paddle_job {

inline constexpr std::chrono::seconds kFirstReleaseRetry{5};
inline constexpr std::chrono::seconds kLongestReleaseRetry{60};

std::string first_release_stamp(WallTime now);
std::string next_release_stamp(const std::string& stamp, WallTime now);
// Not a stamp, or one of the future (the clock was set back): now.
WallTime release_again_at(const std::string& stamp, WallTime now);

}  // namespace paddle::controllers::paddle_job
