// SPDX-License-Identifier: Apache-2.0
//
// Runtimes read the keys of their source and of their volume from Secrets that are mounted. A
// kubelet brings such files up to date within a minute or two, but at once when the pod changes: so
// each runtime's pod carries an annotation that says of which versions it was told, and when. Pure.

#pragma once

#include <optional>

#include "api/sample_set.h"
#include "base/clock.h"
#include "controllers/sample_set/actions.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

inline constexpr const char* kSecretVersions = "batch.paddlepaddle.org/source-keys";

// Of the versions that there are now, whoever has not been told of them.
void annotate_secret_versions(const api::SampleSet& set, const World& world, WallTime now,
                              Plan& plan);

// Whether every runtime has been told of other keys after that moment, long enough ago to have
// them.
bool have_newer_secrets(const api::SampleSet& set, const World& world, WallTime since,
                        WallTime now);

}  // namespace paddle::controllers::sample_set
