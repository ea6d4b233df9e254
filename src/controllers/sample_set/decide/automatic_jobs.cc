// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/automatic_jobs.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "api/phases.h"
#include "base/units.h"
#include "controllers/runtime_jobs/job_progress.h"
#include "controllers/sample_set/decide/credential_rollout.h"
#include "controllers/sample_set/decide/first_sync.h"
#include "controllers/sample_set/decide/reasons.h"
#include "controllers/sample_set/decide/runtime_liveness.h"
#include "runtime/protocol/request_fields.h"

namespace paddle::controllers::sample_set {
namespace {

using runtime::JobState;

constexpr int kMaxWarmUpFailures = 3;
constexpr std::int64_t kLostShare = 10;  // a tenth less was lost, not evicted

std::string duration_text(std::int64_t left) {
  if (left < 120) return std::to_string(left) + " s";
  if (left < 7200) return std::to_string((left + 30) / 60) + " min";
  return std::to_string((left + 1800) / 3600) + " h";
}

std::string of_total(const std::string& done, const std::string& total, bool known) {
  return known ? done + " of " + total : done;
}

void add_report(const runtime::JobReport& report, std::vector<api::JobPartition>& parts) {
  api::Work work = runtime_jobs::to_work(report);
  if (ended(report.state)) work.eta_seconds = 0;
  parts.push_back({.work = std::move(work)});
}

bool has_failed(JobState state) {
  return state == JobState::kFailed || state == JobState::kCancelled;
}

// The job that the condition is about has failed, and its back-off is over or the spec has changed.
bool may_retry(const api::SampleSet& set, const char* type, const std::string& id, WallTime now) {
  if (set.status.observed_generation != set.meta.generation) return true;
  const auto* failed = api::find_condition(set.status.conditions, type);
  return failed && failed->status == "False" && failed->last_transition &&
         now - *failed->last_transition >= retry_delay(id);
}

// A sync that failed with previous credentials is retried at once.
bool failed_with_previous_secrets(const api::SampleSet& set, const World& world, WallTime now) {
  const auto* failed = api::find_condition(set.status.conditions, condition_type::kSynced);
  return failed && failed->status == "False" && failed->last_transition &&
         have_newer_secrets(set, world, *failed->last_transition, now);
}

// The generation that the latest sync made. An engine that also counts removals reports it apart;
// absent while no runtime reports it, because a removal needs no warm-up.
std::optional<std::int64_t> synced_generation(const World& world,
                                              const api::SampleSetStatus& status) {
  if (!status.index) return std::nullopt;
  bool reported = false;
  for (const RuntimeReport& report : world.runtime_reports) {
    if (!report.status) continue;
    if (report.status->index && report.status->index->synced > 0) {
      return report.status->index->synced;
    }
    reported = true;
  }
  const bool has_id = status.jobs && !status.jobs->warmup.empty();
  return reported || !has_id ? std::optional(status.index->generation) : std::nullopt;
}

// `from_first`: the runtime fetches its list from the first one; otherwise it makes its own.
runtime::JobRequest warm_up_request(const api::SampleSet& set, int partition, bool from_first) {
  runtime::JobRequest request{
      .kind = runtime::JobKind::kWarmup,
      .which = {.partition = partition, .partitions = set.spec.effective_partitions()}};
  if (set.spec.warmup) request.which.strategy = runtime::strategy_of(set.spec.warmup->strategy);
  if (from_first) request.which.lists_at = runtime::lists_address(set);
  return request;
}

// What the runtime reports about the warm-up with this id, or null.
const runtime::JobReport* warm_up_report(const RuntimeReport* report, const std::string& id) {
  return report && report->warmup && report->warmup->id == id ? &*report->warmup : nullptr;
}

bool has_ended(const runtime::JobReport* report) {
  return report && (report->state == JobState::kSucceeded || report->state == JobState::kCancelled);
}

void forget_warm_up(api::PartitionStatus& partition) {
  partition.warmed = partition.warmed_on = partition.warmed_in = "";
  partition.warmed_bytes = 0;
}

// The client that held the cache has restarted (`life` differs) and has far less than the warm-up
// left there. In the same life the samples were evicted or cleared; a clear empties `warmed_in`.
bool has_lost_cache(const api::PartitionStatus& partition, const std::string& life) {
  return !partition.warmed_in.empty() && !life.empty() && partition.warmed_in != life &&
         partition.cached_bytes < partition.warmed_bytes - partition.warmed_bytes / kLostShare;
}

// A runtime does not run a job that it has ended again: this needs a new id.
bool lost_where_it_ended(const World& world, const api::SampleSetStatus& status) {
  return std::ranges::any_of(status.partitions, [&](const auto& partition) {
    return !has_completed(partition, status.jobs->warmup) &&
           has_ended(warm_up_report(report_of(world, partition.index), status.jobs->warmup));
  });
}

void assign_sync_id(const api::SampleSet& set, const World& world, bool shares_volume, WallTime now,
                    api::JobsName& jobs, api::SampleSetStatus& status) {
  // A failed part is retried by itself, unless the whole sync has to be another one.
  const bool whole = !status.sync || first_sync_state(*status.sync).restarts ||
                     set.status.observed_generation != set.meta.generation;
  const bool retry = status.phase == api::sample_set_phase::kSyncFailed && whole &&
                     (may_retry(set, condition_type::kSynced, jobs.sync, now) ||
                      failed_with_previous_secrets(set, world, now));
  if (jobs.sync.empty() || retry) {
    jobs.sync = next_sync_id(set, jobs.sync);
    if (shares_volume) status.sync = start_first_sync(set, status.sync, jobs.sync);
  }
  if (retry) status.phase = api::sample_set_phase::kMount;
}

void assign_warm_up_id(const api::SampleSet& set, const World& world, std::int64_t generation,
                       WallTime now, const api::SampleSetStatus& status, api::JobsName& jobs) {
  const std::string wanted = warm_up_id(set, generation, jobs.warmup);
  if (jobs.warmup != wanted) {
    jobs.warmup = wanted;
  } else if (lost_where_it_ended(world, status)) {
    jobs.warmup = warm_up_after_loss(jobs.warmup);
  } else if (warm_up_progress(world, status).stage == JobStage::kFailed &&
             may_retry(set, condition_type::kWarmed, jobs.warmup, now)) {
    jobs.warmup = warm_up_after_failure(jobs.warmup);
  }
}

}  // namespace

std::string describe(const api::Work& work) {
  std::string text =
      of_total(with_commas(work.files_done), with_commas(work.files_total), work.files_total > 0) +
      " files";
  if (work.bytes_total > 0 || work.bytes_done > 0) {
    text += ", " + of_total(human_size(work.bytes_done), human_size(work.bytes_total),
                            work.bytes_total > 0);
  }
  if (work.bytes_per_second > 0) text += ", " + human_size(work.bytes_per_second) + "/s";
  if (work.eta_seconds > 0) text += ", " + duration_text(work.eta_seconds) + " left";
  return text;
}

bool is_synced(const api::SampleSetStatus& status) {
  const auto* synced = api::find_condition(status.conditions, condition_type::kSynced);
  return synced && synced->status == "True";
}

JobProgress sync_progress(const api::SampleSet& set, const World& world, bool shares_volume,
                          const std::optional<api::SharedSync>& shared) {
  if (set.spec.no_sync) {
    const bool served = is_bound(world) && world.runtimes && world.runtimes->ready > 0;
    return {.stage = served ? JobStage::kDone : JobStage::kNotRequested};
  }
  if (!set.status.jobs || set.status.jobs->sync.empty()) return {};
  JobProgress progress{.stage = JobStage::kRunning};
  std::vector<api::JobPartition> parts;
  std::size_t done = 0, all = 0;
  for (const RuntimeReport& report : world.runtime_reports) {
    if (shares_volume && report.partition != 0) continue;
    ++all;
    if (!report.sync) continue;
    add_report(*report.sync, parts);
    if (report.sync->state == JobState::kSucceeded) ++done;
    if (has_failed(report.sync->state)) {
      return {.stage = JobStage::kFailed, .error = report.sync->error};
    }
  }
  if (done > 0 && done == all) {
    progress.stage = JobStage::kDone;
  } else if (shared) {
    const FirstSyncState state = first_sync_state(*shared);
    if (state.failed) return {.stage = JobStage::kFailed, .error = state.error};
    parts.insert(parts.end(), shared->parts.begin(), shared->parts.end());
  }
  progress.work = runtime_jobs::sum(parts);
  return progress;
}

bool is_warmed_up(const api::PartitionStatus& partition) {
  return !partition.warmed.empty() && !partition.node.empty() &&
         partition.warmed_on == partition.node;
}

bool has_completed(const api::PartitionStatus& partition, const std::string& warm_up) {
  return is_warmed_up(partition) && partition.warmed == warm_up_round(warm_up);
}

JobProgress warm_up_progress(const World& world, const api::SampleSetStatus& status) {
  if (!status.jobs || status.jobs->warmup.empty()) return {};
  JobProgress progress{.stage = status.partitions.empty() ? JobStage::kRunning : JobStage::kDone};
  std::vector<api::JobPartition> parts;
  for (const auto& partition : status.partitions) {
    const auto* report = warm_up_report(report_of(world, partition.index), status.jobs->warmup);
    if (report) {
      add_report(*report, parts);
      progress.files_no_room += report->progress.files_no_room;
    }
    if (has_completed(partition, status.jobs->warmup)) continue;
    if (report && report->state == JobState::kFailed) {
      progress.error =
          report->error.empty() ? "the runtime reported no error message" : report->error;
    } else if (progress.stage != JobStage::kFailed) {
      progress.stage = JobStage::kRunning;
    }
    if (!progress.error.empty()) progress.stage = JobStage::kFailed;
  }
  progress.work = runtime_jobs::sum(parts);
  return progress;
}

bool is_warming_up(const World& world, const api::SampleSetStatus& status) {
  return std::ranges::any_of(world.runtime_reports, [&](const RuntimeReport& each) {
    const auto* report = status.jobs ? warm_up_report(&each, status.jobs->warmup) : nullptr;
    return report && !ended(report->state);
  });
}

bool warm_up_given_up(const api::SampleSetStatus& status, const JobProgress& warm_up) {
  if (!status.jobs || status.jobs->warmup.empty()) return false;
  const int failures =
      attempt_of(status.jobs->warmup) + (warm_up.stage == JobStage::kFailed ? 1 : 0);
  return failures >= kMaxWarmUpFailures;
}

void record_warm_ups(const api::SampleSet& set, const World& world, bool shares_volume,
                     api::SampleSetStatus& status) {
  if (!set.status.jobs || set.status.jobs->warmup.empty()) return;
  const std::string& id = set.status.jobs->warmup;
  for (auto& partition : status.partitions) {
    const RuntimeReport* runtime = report_of(world, partition.index);
    if (!runtime || !runtime->status) continue;
    // A runtime without its index has lost its disk, and the samples with it.
    if (!shares_volume && !runtime->status->index) forget_warm_up(partition);
    const auto* report = warm_up_report(runtime, id);
    const std::string& life = runtime->status->cache.life;
    if (has_ended(report) && !has_completed(partition, id)) {
      partition.warmed = warm_up_round(id);
      partition.warmed_on = partition.node;
      partition.warmed_in = report->state == JobState::kSucceeded ? life : "";
      partition.warmed_bytes = partition.cached_bytes;
    }
    if (report && report->cleared_since) partition.warmed_in = "";
    if (!is_warmed_up(partition)) continue;
    if (has_lost_cache(partition, life)) {
      forget_warm_up(partition);
    } else if (!partition.warmed_in.empty() && !life.empty()) {
      partition.warmed_in = life;
    }
  }
}

void assign_job_ids(const api::SampleSet& set, const World& world, bool shares_volume, WallTime now,
                    api::SampleSetStatus& status) {
  api::JobsName jobs = status.jobs.value_or(api::JobsName{});
  const bool can_sync = is_bound(world) && world.runtimes && world.runtimes->ready > 0;
  if (!set.spec.no_sync && can_sync && !is_synced(status)) {
    assign_sync_id(set, world, shares_volume, now, jobs, status);
  }
  const auto generation = synced_generation(world, status);
  if (is_synced(status) && set.spec.warms_up_by_itself() && generation) {
    assign_warm_up_id(set, world, *generation, now, status, jobs);
  }
  if (jobs != api::JobsName{}) status.jobs = jobs;
}

void cancel_replaced_warm_up(const api::SampleSet& set, const World& world,
                             const api::SampleSetStatus& next, Plan& plan) {
  const std::string& current = set.status.jobs->warmup;
  for (const RuntimeReport& report : world.runtime_reports) {
    const auto* job = warm_up_report(&report, current);
    if (job && job->state == JobState::kQueued && next.jobs && next.jobs->warmup != current) {
      plan.add(CancelJob{report.partition, current});
    }
  }
}

void put_jobs(const api::SampleSet& set, const World& world, bool shares_volume,
              const std::set<int>& may_sync, const api::SampleSetStatus& next, Plan& plan) {
  if (!set.status.jobs) return;
  const auto& jobs = *set.status.jobs;
  cancel_replaced_warm_up(set, world, next, plan);
  const bool replaced = next.jobs && next.jobs->warmup != jobs.warmup;
  const auto needs_warm_up = [&](const RuntimeReport& report) {
    const auto at = static_cast<std::size_t>(report.partition);
    return !replaced && !report.warmup && at < next.partitions.size() &&
           !has_completed(next.partitions[at], jobs.warmup);
  };
  // The first runtime serves the lists of a warm-up that it runs itself. After it has ended it does
  // not get the job again, because a user may have cleared its cache: then the others make their
  // lists by the same rule.
  const RuntimeReport* first = shares_volume ? report_of(world, 0) : nullptr;
  const bool first_serves_lists = first && first->warmup;
  const bool first_goes_first = first && first->status && needs_warm_up(*first);
  for (const RuntimeReport& report : world.runtime_reports) {
    if (!report.status) continue;  // it did not answer, so it cannot receive a job either
    const bool is_first = shares_volume && report.partition == 0;
    const bool must_sync = is_synced(set.status) ? !shares_volume && !report.status->index
                                                 : may_sync.contains(report.partition);
    const bool alone = !set.status.sync && (is_first || !shares_volume);
    if (!jobs.sync.empty() && !report.sync && must_sync && alone) {
      plan.add(PutJob{report.partition, jobs.sync, {.kind = runtime::JobKind::kSync}});
    }
    if (jobs.warmup.empty() || !set.spec.warms_up_by_itself() || !is_synced(set.status)) continue;
    if (!shares_volume && !report.status->index) continue;
    if (!needs_warm_up(report) || (first_goes_first && !is_first)) continue;
    plan.add(PutJob{report.partition, jobs.warmup,
                    warm_up_request(set, report.partition, first_serves_lists && !is_first)});
  }
}

}  // namespace paddle::controllers::sample_set
