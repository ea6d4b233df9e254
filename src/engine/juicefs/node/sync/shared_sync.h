// SPDX-License-Identifier: Apache-2.0
//
// A sync that several runtimes share. The runtime of the first part divides it once and stores the
// parts in its ListStore; the others fetch theirs and store them. So a runtime that was killed
// continues its own part, and one that moved to another node gets the same part again. A first
// runtime that lost its disk divides again: parts of two divisions do not make a whole, so each
// part carries the id of its division (Progress::cut). docs/design/0011.

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

// The part task.part of a sync. Waits for the first runtime until `stop` is requested.
Result<SyncPart> part_of_sync(const SyncContext& context, const SyncTask& task,
                              const ListStore& lists, const ListFetcher& fetch,
                              const ProgressSink& report, std::stop_token stop);

Result<> run_part(const SyncContext& context, const SyncTask& task, const SyncPart& part,
                  const ListStore& lists, const ProgressSink& report, std::stop_token stop);

}  // namespace paddle::engine::juicefs
