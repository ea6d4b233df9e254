// SPDX-License-Identifier: Apache-2.0
//
// Fields that requests for warm-ups and syncs have in common, whichever controller sends them.
// Pure.

#pragma once

#include <string>

#include "api/sample_set.h"
#include "api/shared.h"
#include "sampler/strategy.h"

namespace paddle::runtime {

// The sampler of a spec's fields.
sampler::Strategy strategy_of(const api::Strategy& from);

// Where the first runtime of the set serves lists: "<pod>.<service>.<namespace>:<port>".
std::string lists_address(const api::SampleSet& set);

}  // namespace paddle::runtime
