// SPDX-License-Identifier: Apache-2.0
//
// The pod that has to succeed once before runtimes mount a volume, for engines that need one. Pure.
//
// An annotation of the copy of the credentials records with which version the volume was prepared:
// other credentials need another preparation (engine/manifests.h), while the runtimes go on. A pod
// that failed stays for a while, so that users can read its log, and is then created again after a
// growing delay; at once when the user changes the Secret, or when its node is lost
// (runtime_liveness.h).

#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "controllers/sample_set/actions.h"
#include "controllers/sample_set/world.h"
#include "engine/manifests.h"

namespace paddle::controllers::sample_set {

// On the copy: the version (kCopiedFrom) that the volume is prepared with; failed attempts so far.
inline constexpr const char* kPreparedWith = "batch.paddlepaddle.org/prepared-with";
inline constexpr const char* kAttempts = "batch.paddlepaddle.org/failed-preparations";
// On the pod: the version that it prepares with.
inline constexpr const char* kPrepares = "batch.paddlepaddle.org/prepares";

// True for engines that need no preparation.
bool is_prepared(const World& world, const engine::Manifests& manifests);

void prepare_volume(const World& world, const engine::Manifests& manifests, WallTime now,
                    Plan& plan);

// The error message of the pod; absent unless it has failed.
std::optional<std::string> preparation_error(const World& world);
// Why the pod does not run, for the end of a sentence; empty when it does not report a reason.
std::string preparation_problem(const World& world);
// Until a failed pod is created again.
std::optional<std::chrono::seconds> preparation_retry(const World& world, WallTime now);

}  // namespace paddle::controllers::sample_set
