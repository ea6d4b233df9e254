// SPDX-License-Identifier: Apache-2.0
//
// Files of an index of which the source has another version now, or none. Found by listing each
// source of the set once, like a sync.

#pragma once

#include <stop_token>
#include <vector>

#include "base/result.h"
#include "engine/samplefs/node/sources/source_set.h"
#include "samplefs/index.h"

namespace paddle::engine::samplefs {

// In the order of their positions. `wanted`, by position: the files to look for; sources of which
// none is wanted are not listed.
Result<std::vector<::paddle::samplefs::Index::Position>> stale_files(
    const ::paddle::samplefs::Index& index, const std::vector<bool>& wanted, SourceSet& sources,
    const std::stop_token& stop);

}  // namespace paddle::engine::samplefs
