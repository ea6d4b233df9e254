// SPDX-License-Identifier: Apache-2.0
//
// Which engine a SampleSet has: what the spec says, else juicefs when its secret has a metaurl,
// else samplefs. Decided once: afterwards it stands in the status. Pure.

#pragma once

#include <string>

#include "api/sample_set.h"
#include "base/result.h"
#include "controllers/sample_set/world.h"
#include "engine/manifests.h"

namespace paddle::controllers::sample_set {

// kInvalid: a sentence with the ways out. kUnavailable: it can not be told yet (no secret).
Result<std::string> choose_engine(const api::SampleSet& set,
                                  const std::optional<SecretSummary>& secret);

// Null when this program has no such engine.
const engine::ManifestBuilder* find_engine(const engine::ManifestBuilders& builders,
                                           const std::string& name);

// The Secret with credentials that the spec names, or null.
const api::SecretReference* credentials_of(const api::SampleSet& set);

}  // namespace paddle::controllers::sample_set
