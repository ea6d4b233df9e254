// SPDX-License-Identifier: Apache-2.0
//
// What every request for a warm-up says in the same way, whoever makes it. Pure.

#pragma once

#include <string>

#include "api/sample_set.h"
#include "api/shared.h"
#include "sampler/strategy.h"

namespace paddle::runtime {

// The sampler that the fields of a spec name.
sampler::Strategy strategy_of(const api::Strategy& from);

// Where the first runtime of the set hands out lists: "<pod>.<service>.<namespace>:<port>".
std::string lists_address(const api::SampleSet& set);

}  // namespace paddle::runtime
