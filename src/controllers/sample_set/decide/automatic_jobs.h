// SPDX-License-Identifier: Apache-2.0
//
// The two jobs that the operator starts for a SampleSet by itself: the first sync and the automatic
// warm-up. Their ids (job_ids.h) are stored in the status before any runtime receives them. Pure.
//
// A warm-up that has ended is not repeated: status.partitions has the id of the warm-up that ended,
// and the node. A cache that a user clears afterwards stays cleared, however often runtimes and
// operators restart. A partition that moves to another node is warmed up there, and so is one whose
// node lost the cached samples although no user cleared them: a cache in memory is empty after the
// node or the JuiceFS client has restarted.

#pragma once

#include <optional>
#include <set>
#include <string>

#include "api/sample_set.h"
#include "base/clock.h"
#include "controllers/sample_set/actions.h"
#include "controllers/sample_set/decide/job_ids.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

enum class JobStage { kNotRequested, kRunning, kDone, kFailed };

// One job of all runtimes together.
struct JobProgress {
  JobStage stage = JobStage::kNotRequested;
  std::string error{};
  api::Work work{};
  std::int64_t files_no_room = 0;  // samples that do not fit into the cache
};
// "120 of 1,000 files, 1.2 GiB of 12 GiB, 80 MiB/s, 3 min left": as much of it as is known.
std::string describe(const api::Work& work);

// One failure is enough to fail; done when every runtime that has to sync is done.
// `shares_volume`: engine/manifests.h. `shared`: the parts of the sync to come, if it has any.
JobProgress sync_progress(const api::SampleSet& set, const World& world, bool shares_volume,
                          const std::optional<api::SharedSync>& shared);

// The list of samples was published. The status keeps this when runtimes do not answer.
bool is_synced(const api::SampleSetStatus& status);

// `status` is the next one, with its partitions and the id of the warm-up.
JobProgress warm_up_progress(const World& world, const api::SampleSetStatus& status);

// A runtime has reported that its warm-up runs.
bool is_warming_up(const World& world, const api::SampleSetStatus& status);

// A warm-up of this set has ended on the node where the partition is now.
bool is_warmed_up(const api::PartitionStatus& partition);
// This warm-up has ended there, or one of the same round (job_ids.h).
bool has_completed(const api::PartitionStatus& partition, const std::string& warm_up);
// It has failed often enough: a few samples that cannot be read do not keep a set from its users.
bool warm_up_given_up(const api::SampleSetStatus& status, const JobProgress& warm_up);

// Records in the next `status` which partitions have ended the stored warm-up, and which have lost
// the samples that it cached.
void record_warm_ups(const api::SampleSet& set, const World& world, bool shares_volume,
                     api::SampleSetStatus& status);

// Writes the ids of the jobs to run into the next `status`.
void assign_job_ids(const api::SampleSet& set, const World& world, bool shares_volume, WallTime now,
                    api::SampleSetStatus& status);

// A warm-up that another one replaces, after another sync, and that a runtime has not begun.
void cancel_replaced_warm_up(const api::SampleSet& set, const World& world,
                             const api::SampleSetStatus& next, Plan& plan);

// Each runtime receives the stored jobs that it does not know; the first sync only those in
// `may_sync` (up_to_date_runtimes() of object_updates.h).
void put_jobs(const api::SampleSet& set, const World& world, bool shares_volume,
              const std::set<int>& may_sync, const api::SampleSetStatus& next, Plan& plan);

}  // namespace paddle::controllers::sample_set
