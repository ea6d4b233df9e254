// SPDX-License-Identifier: Apache-2.0
//
// The first sync of a SampleSet whose runtimes share one volume, when it has several partitions:
// each runtime copies a part, tracked like the parts of a SampleJob (controllers/runtime_jobs,
// docs/design/0011). Pure.
//
// status.sync has the parts from when the sync gets its id until it has ended. A part that fails is
// retried alone. When all parts are done, the first runtime receives the job jobsName.syncJobName,
// which only counts the sync; when that job has ended, the sync has, like a sync that one runtime
// ran alone. Without status.sync there is nothing to share: the set has one partition, or the sync
// was started by an older operator that did not divide it.

#pragma once

#include <optional>
#include <set>
#include <string>

#include "api/sample_set.h"
#include "base/clock.h"
#include "controllers/sample_set/actions.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

// The stored sync with what the runtimes report now; with new ids for the parts to retry, and with
// a new division when the current one cannot end.
std::optional<api::SharedSync> update_first_sync(const api::SampleSet& set, const World& world,
                                                 WallTime now);

// A sync with a new id, with one part per partition; absent with one partition. The parts of
// `previous` that have not ended are to be cancelled.
std::optional<api::SharedSync> start_first_sync(const api::SampleSet& set,
                                                const std::optional<api::SharedSync>& previous,
                                                const std::string& id);

struct FirstSyncState {
  bool failed = false;    // no part makes progress, and one has failed ...
  bool restarts = false;  // ... before the sync was divided, or was cancelled: it needs a new id
  std::string error{};
};
FirstSyncState first_sync_state(const api::SharedSync& sync);

// Each runtime in `may_sync` (up_to_date_runtimes() of object_updates.h) receives its part when it
// does not know it; abandoned parts are cancelled.
void put_first_sync_parts(const api::SampleSet& set, const World& world,
                          const std::set<int>& may_sync, const api::SampleSetStatus& next,
                          Plan& plan);

}  // namespace paddle::controllers::sample_set
