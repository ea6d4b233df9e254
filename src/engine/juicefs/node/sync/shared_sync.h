// SPDX-License-Identifier: Apache-2.0
//
// A sync that several runtimes share. The first part's runtime says who copies what: once, kept in
// its ListStore; the others ask it and keep theirs. So a runtime that is killed goes on with its
// own part, and one that moved to another node is given the same part again. A first runtime that
// lost its disk divides anew: parts of two divisions do not make a whole, and each says of which
// one it is (Progress::cut). docs/design/0011.

#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "engine/juicefs/node/lists/list_fetch.h"
#include "engine/juicefs/node/lists/list_store.h"
#include "engine/juicefs/node/sync/sync_run.h"
#include "engine/node_engine.h"

namespace paddle::engine::juicefs {

// What task.part is. Waits for the first runtime as long as it takes, or until `stop`.
Result<SyncPart> part_of_sync(const SyncContext& context, const SyncTask& task,
                              const ListStore& lists, const ListFetcher& fetch,
                              const ProgressSink& report, std::stop_token stop);

Result<> run_part(const SyncContext& context, const SyncTask& task, const SyncPart& part,
                  const ListStore& lists, const ProgressSink& report, std::stop_token stop);

}  // namespace paddle::engine::juicefs
