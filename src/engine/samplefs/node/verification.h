// SPDX-License-Identifier: Apache-2.0
//
// One job of type verify: lists the sources to find stale files, reads the cache to find corrupt
// and missing ones (samplefs/verifier.h), and reports both. The cache is also checked when a source
// cannot be listed; the job fails then.

#pragma once

#include <stop_token>

#include "base/result.h"
#include "engine/node_engine.h"
#include "engine/samplefs/node/sources/source_set.h"
#include "samplefs/read_through.h"
#include "samplefs/store/store.h"
#include "samplefs/verifier.h"

namespace paddle::engine::samplefs {

struct CacheAndSources {
  ::paddle::samplefs::Store& store;
  ::paddle::samplefs::ReadThrough& data;
  SourceSet& sources;
};

// kUnavailable: a source could not be listed, or something could not be repaired.
Result<> verify_cache(::paddle::samplefs::VerifyFiles files,
                      ::paddle::samplefs::VerifyOptions options, const CacheAndSources& with,
                      const ProgressSink& report, std::stop_token stop);

}  // namespace paddle::engine::samplefs
