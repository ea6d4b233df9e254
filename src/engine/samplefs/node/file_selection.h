// SPDX-License-Identifier: Apache-2.0
//
// Which files of an index a job means. Pure.

#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/node_engine.h"
#include "samplefs/index.h"

namespace paddle::engine::samplefs {

// In the order in which they are read first (sampler/strategy.h), each once. kNotFound names a path
// that the set does not have.
Result<std::vector<::paddle::samplefs::Index::Position>> select_files(
    const ::paddle::samplefs::Index& index, const Selection& which);

// The same of those that `list` names, a path per line, in the order of the lines. Lines that are
// empty are passed over; "/a" is "a".
Result<std::vector<::paddle::samplefs::Index::Position>> select_listed(
    const ::paddle::samplefs::Index& index, std::string_view list, const Selection& which);

}  // namespace paddle::engine::samplefs
