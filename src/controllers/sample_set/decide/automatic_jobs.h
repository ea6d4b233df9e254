// SPDX-License-Identifier: Apache-2.0
//
// The two jobs that a SampleSet has its runtimes do by itself: the first sync, and the automatic
// warm-up. Their ids (job_ids.h) stand in the status before any runtime hears of them. Pure.
//
// What has ended stays ended: status.partitions says which warm-up ended on which node. Whoever
// clears the cache afterwards finds it cleared, however often runtimes and operators restart; a
// partition that moves to another node is warmed up there. So is one whose node has lost what it
// held though nobody cleared it: a tier in memory, when the node or the client has started anew.

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

// How far one or several runtimes are.
struct Work {
  std::int64_t files_total = 0;
  std::int64_t files_done = 0;
  std::int64_t files_failed = 0;
  std::int64_t files_no_room = 0;
  std::int64_t bytes_total = 0;
  std::int64_t bytes_done = 0;
  std::int64_t bytes_per_second = 0;
  std::int64_t seconds_left = 0;  // 0: not known
  void add(const runtime::JobReport& report);
  void add(const api::Work& work);
};
// "120 of 1,000 files, 1.2 GiB of 12 GiB, 80 MiB/s, 3 min left": as much of it as is known.
std::string to_text(const Work& work);

enum class JobsState { kNotAsked, kRunning, kDone, kFailed };

struct SyncProgress {
  JobsState state = JobsState::kNotAsked;
  std::string error{};
  Work work{};
};
// `shares_volume`: engine/manifests.h. `shared`: its parts as they are now, if it has any.
SyncProgress sync_progress(const api::SampleSet& set, const World& world, bool shares_volume,
                           const std::optional<api::SharedSync>& shared);

// The file list was published: said by the status, which remembers it when runtimes are away.
bool synced(const api::SampleSetStatus& status);

struct WarmUpProgress {
  JobsState state = JobsState::kNotAsked;
  std::string error{};
  Work work{};
};
// `status` is the one to come: with its partitions and the id of the warm-up.
WarmUpProgress warm_up_progress(const World& world, const api::SampleSetStatus& status);

// A runtime has said that it is at it.
bool is_warming_up(const World& world, const api::SampleSetStatus& status);

// The warm-up that has ended is of this set and happened on the node where the partition is now.
bool is_warmed_up(const api::PartitionStatus& partition);
// This one has, or one that counts as the same (job_ids.h).
bool has_completed(const api::PartitionStatus& partition, const std::string& warm_up);
// Enough tries: a set is not kept from its users by a few files that can not be read.
bool warm_up_given_up(const api::SampleSetStatus& status, const WarmUpProgress& seen);

// Notes which partitions have ended the warm-up that the set's status names, and which have lost
// what it brought in.
void record_warm_ups(const api::SampleSet& set, const World& world, bool shares_volume,
                     api::SampleSetStatus& status);

// Puts the ids of the jobs to come into `status`.
void assign_job_ids(const api::SampleSet& set, const World& world, bool shares_volume, WallTime now,
                    api::SampleSetStatus& status);

// Each runtime gets the jobs whose ids are stored and that it does not know; the first sync only
// one of those that `may_sync` (up_to_date_runtimes() of children.h).
void put_jobs(const api::SampleSet& set, const World& world, bool shares_volume,
              const std::set<int>& may_sync, const api::SampleSetStatus& next, Plan& plan);

}  // namespace paddle::controllers::sample_set
