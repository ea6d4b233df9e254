// SPDX-License-Identifier: Apache-2.0
//
// Translates a sync task for samplefs. A sync copies nothing: it lists the objects of a source, and
// data is fetched when files are read or warmed up. Pure.

#pragma once

#include <string>

#include "base/result.h"
#include "engine/node_engine.h"
#include "samplefs/merge.h"

namespace paddle::engine::samplefs {

// What matters here of the set's own source.
struct OwnSource {
  std::string uri{};
  std::string endpoint{};
};

// kInvalid: one sentence about an option that samplefs does not support, and what to do instead.
Result<::paddle::samplefs::SyncRules> sync_rules(const SyncTask& task, const OwnSource& own);

// A path of the set as jobs give it: "/a/" means "a". kInvalid for the root, for "..", and the
// like.
Result<std::string> path_in_set(const std::string& path);

}  // namespace paddle::engine::samplefs
