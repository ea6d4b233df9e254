// SPDX-License-Identifier: Apache-2.0
//
// Which files of an index a job means. Pure.

#pragma once

#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "samplefs/index.h"

namespace paddle::engine::samplefs {

// In the order in which they are read first (sampler/strategy.h), each once. kNotFound names a path
// that the set does not have.
Result<std::vector<::paddle::samplefs::Index::Position>> select_files(
    const ::paddle::samplefs::Index& index, const Selection& which);

}  // namespace paddle::engine::samplefs
