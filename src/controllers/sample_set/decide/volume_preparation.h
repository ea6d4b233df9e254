// SPDX-License-Identifier: Apache-2.0
//
// The pod that has to succeed once before runtimes mount a volume, for engines that ask for one.
// Pure.
//
// Done is said on the copy of the credentials, with which it was done: other credentials are
// another preparation (engine/manifests.h), beside runtimes that go on. A pod that failed is looked
// at for a while, then made again, later each time; at once when the user changes the Secret, or
// when its node is lost (seats.h).

#pragma once

#include <optional>
#include <string>

#include "api/sample_set.h"
#include "base/clock.h"
#include "controllers/sample_set/plan.h"

namespace paddle::controllers::sample_set {

// On the copy: the version (kCopiedFrom) that the volume is prepared with; failed attempts so far.
inline constexpr const char* kPreparedWith = "batch.paddlepaddle.org/prepared-with";
inline constexpr const char* kAttempts = "batch.paddlepaddle.org/failed-preparations";
// On the pod: the version it prepares with.
inline constexpr const char* kPrepares = "batch.paddlepaddle.org/prepares";

// True also for engines that ask for none.
bool is_prepared(const World& world, const engine::Manifests& manifests);

void prepare_volume(const World& world, const engine::Manifests& manifests, WallTime now,
                    Plan& plan);

// What the pod says went wrong; nothing while it has not failed.
std::optional<std::string> preparation_error(const World& world);
// Why it does not run, as far as it tells: ImagePullBackOff, no node.
std::string preparation_problem(const World& world);
std::optional<std::chrono::seconds> preparation_retry(const World& world, WallTime now);

}  // namespace paddle::controllers::sample_set
