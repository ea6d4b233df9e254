// SPDX-License-Identifier: Apache-2.0
//
// How runtimes get changed credentials. They read the keys of their source and of their volume from
// mounted Secrets. A kubelet updates such files within a minute or two, but at once when the pod
// changes: so each runtime's pod has an annotation with the versions of the Secrets, and when it
// was written. Pure.

#pragma once

#include "api/sample_set.h"
#include "base/clock.h"
#include "controllers/sample_set/actions.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

// "<versions> <time>"
inline constexpr const char* kSecretVersions = "batch.paddlepaddle.org/source-keys";

void annotate_secret_versions(const api::SampleSet& set, const World& world, WallTime now,
                              Plan& plan);

// Every runtime was annotated with the current versions after `since`, and long enough ago to have
// read them.
bool have_newer_secrets(const api::SampleSet& set, const World& world, WallTime since,
                        WallTime now);

}  // namespace paddle::controllers::sample_set
