// SPDX-License-Identifier: Apache-2.0
//
// What a sync task means for samplefs, which copies nothing: a sync makes a list of what is at a
// source, and samples come when they are read or warmed up. Pure.

#pragma once

#include <string>

#include "base/result.h"
#include "engine/node_engine.h"
#include "samplefs/merge.h"

namespace paddle::engine::samplefs {

// The set's own source, as far as it matters here.
struct OwnSource {
  std::string uri{};
  std::string endpoint{};
};

// kInvalid: one sentence about an option that means nothing here, with what to do instead.
Result<::paddle::samplefs::SyncRules> sync_rules(const SyncTask& task, const OwnSource& own);

// Paths of the set as a job names them: "/a/" is "a". kInvalid for the root, for "..", and the
// like.
Result<std::string> path_in_set(const std::string& path);

}  // namespace paddle::engine::samplefs
