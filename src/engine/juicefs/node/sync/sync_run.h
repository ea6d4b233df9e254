// SPDX-License-Identifier: Apache-2.0
//
// One `juicefs sync` from beginning to end: secrets read, command line made, progress told, the
// outcome put into one sentence. It runs behind everybody else of its node: at a low priority, and
// only when the place's gate is open.

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
  std::string home{};  // a directory that the program may call its home
  std::string source{};
  std::string source_secret{};  // directories
  std::string volume_secret{};
  std::string sub_dir{};            // of the volume, which the set is
  std::function<bool()> may_run{};  // asked often; empty: always
};

// `planned`: how many bytes are expected; 0: not known.
Result<> run_sync(const SyncContext& context, const SyncTask& task, std::int64_t planned,
                  const ProgressSink& report, std::stop_token stop);

// What it would copy; `unnamed` of it have names that can not be told here.
struct SyncList {
  CopyList files{};
  std::int64_t unnamed = 0;
};
Result<SyncList> list_sync(const SyncContext& context, const SyncTask& task,
                           const ProgressSink& report, std::stop_token stop);

// How many bytes it would copy; 0 for one that does not only copy.
Result<std::int64_t> planned_bytes(const SyncContext& context, const SyncTask& task,
                                   const ProgressSink& report, std::stop_token stop);

// Deletes at the destination what the source does not have, and copies nothing.
Result<> delete_extra(const SyncContext& context, const SyncTask& task, std::stop_token stop);

}  // namespace paddle::engine::juicefs
