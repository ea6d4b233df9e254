// SPDX-License-Identifier: Apache-2.0
//
// Runs one `juicefs sync` to its end: reads the Secrets, makes the command line, reports progress,
// and returns a failure as one sentence; a program that stands still is ended (time_limits.h). It
// runs at low CPU and I/O priority, and only while SyncContext::may_run allows it.

#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "engine/juicefs/node/plan/sync_parts.h"
#include "engine/node_engine.h"

namespace paddle::engine::juicefs {

struct SyncContext {
  std::string program{};
  std::string home{};  // directory, HOME of the program
  std::string source{};
  std::string source_secret{};  // directories
  std::string volume_secret{};
  std::string sub_dir{};            // directory of the volume that is the set
  std::function<bool()> may_run{};  // called often; empty: always
};

// `planned`: the expected number of bytes; 0: not known.
Result<> run_sync(const SyncContext& context, const SyncTask& task, std::int64_t planned,
                  const ProgressSink& report, std::stop_token stop);

// What a sync would copy. JuiceFS does not print the names of `unnamed` of these files.
struct SyncList {
  CopyList files{};
  std::int64_t unnamed = 0;
};
Result<SyncList> list_sync(const SyncContext& context, const SyncTask& task,
                           const ProgressSink& report, std::stop_token stop);

// How many bytes a sync would copy; 0 for a dry run, one that deletes at the source, or a source
// that is too large to be listed for this alone.
Result<std::int64_t> planned_bytes(const SyncContext& context, const SyncTask& task,
                                   const ProgressSink& report, std::stop_token stop);

// Deletes at the destination what the source does not have, and copies nothing.
Result<> delete_extra(const SyncContext& context, const SyncTask& task, std::stop_token stop);

}  // namespace paddle::engine::juicefs
