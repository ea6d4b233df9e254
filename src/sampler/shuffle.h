// SPDX-License-Identifier: Apache-2.0
//
// numpy.random.RandomState(seed).shuffle(list), bit for bit: the shuffle of Paddle's samplers.
// Pure.

#pragma once

#include <cstdint>
#include <vector>

namespace paddle::sampler {

// At most 2^32 values.
void numpy_shuffle(std::vector<std::uint32_t>& values, std::uint32_t seed);

}  // namespace paddle::sampler
