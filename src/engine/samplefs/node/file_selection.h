// SPDX-License-Identifier: Apache-2.0
//
// The files of an index that a job selects. Pure.

#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/node_engine.h"
#include "samplefs/index.h"

namespace paddle::engine::samplefs {

// In the order in which trainers read them first (sampler/strategy.h), each once. kNotFound names a
// path that the set does not have.
Result<std::vector<::paddle::samplefs::Index::Position>> select_files(
    const ::paddle::samplefs::Index& index, const Selection& which);

// The same for the files that `list` names, a path per line, in the order of the lines. Empty lines
// are skipped; "/a" means "a".
Result<std::vector<::paddle::samplefs::Index::Position>> select_listed(
    const ::paddle::samplefs::Index& index, std::string_view list, const Selection& which);

}  // namespace paddle::engine::samplefs
