// SPDX-License-Identifier: Apache-2.0
//
// The first sync of a set whose runtimes see one volume, when there are several of them: each
// copies a part, followed as those of a SampleJob are (controllers/runtime_jobs, docs/design/0011).
// Pure.
//
// The parts stand in status.sync from when the sync is named until it has ended. A part that fails
// is tried again, alone. When all have been done, the first runtime is asked to count the sync
// under its own id, jobsName.syncJobName; with that the sync has ended, as one does that it ran by
// itself. So without status.sync there is nothing to share: one partition, or a sync that an
// operator began which did not share any.

#pragma once

#include <optional>
#include <set>

#include "api/sample_set.h"
#include "base/clock.h"
#include "controllers/sample_set/actions.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

// As the runtimes say it is now; with the parts that are to be tried again and the division that is
// to replace one that can not be ended.
std::optional<api::SharedSync> update_first_sync(const api::SampleSet& set, const World& world,
                                                 WallTime now);

// A sync of a new id, which every partition has a part of; nothing with one partition.
std::optional<api::SharedSync> start_first_sync(const api::SampleSet& set,
                                                const std::optional<api::SharedSync>& before,
                                                const std::string& id);

struct FirstSyncState {
  bool failed = false;    // nothing goes on, for a part has failed ...
  bool restarts = false;  // ... before it was divided, or was cancelled: under another id
  std::string error{};
};
FirstSyncState first_sync_state(const api::SharedSync& sync);

// Each runtime gets its part when it does not know it and is one of those that `may_sync`
// (up_to_date_runtimes() of children.h); what was given up is cancelled.
void put_first_sync_parts(const api::SampleSet& set, const World& world,
                          const std::set<int>& may_sync, const api::SampleSetStatus& next,
                          Plan& plan);

}  // namespace paddle::controllers::sample_set
