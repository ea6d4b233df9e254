// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/automatic_jobs.h"

#include <algorithm>
#include <optional>

#include "base/units.h"
#include "controllers/runtime_jobs/job_progress.h"
#include "controllers/sample_set/decide/credential_rollout.h"
#include "controllers/sample_set/decide/first_sync.h"
#include "controllers/sample_set/decide/runtime_liveness.h"
#include "runtime/protocol/warm_up.h"

namespace paddle::controllers::sample_set {
namespace {

using runtime::JobState;

constexpr int kEnoughTries = 3;
constexpr std::int64_t kFewer = 10;  // a tenth less is lost, not evicted

std::string how_long(std::int64_t left) {
  if (left < 120) return std::to_string(left) + " s";
  if (left < 7200) return std::to_string((left + 30) / 60) + " min";
  return std::to_string((left + 1800) / 3600) + " h";
}

std::string of_all(const std::string& done, const std::string& total, bool known) {
  return known ? done + " of " + total : done;
}

bool was_given_up(JobState state) {
  return state == JobState::kFailed || state == JobState::kCancelled;
}

// The one that may be tried again, when it has been waited for long enough.
bool may_retry(const api::SampleSet& set, const char* type, const std::string& id, WallTime now) {
  if (set.status.observed_generation != set.meta.generation) return true;
  const auto* failed = api::find_condition(set.status.conditions, type);
  return failed && failed->status == "False" && failed->last_transition &&
         now - *failed->last_transition >= retry_delay(id);
}

// What failed with the keys of before need not wait.
bool failed_with_others(const api::SampleSet& set, const World& world, WallTime now) {
  const auto* failed = api::find_condition(set.status.conditions, "Synced");
  return failed && failed->status == "False" && failed->last_transition &&
         have_newer_secrets(set, world, *failed->last_transition, now);
}

// The generation that the latest sync made. An engine that also counts removals says which; nothing
// while nobody says it, for a removal asks for no warm-up.
std::optional<std::int64_t> synced_generation(const World& world,
                                              const api::SampleSetStatus& status) {
  if (!status.index) return std::nullopt;
  bool says = false;
  for (const RuntimeReport& answer : world.runtime_reports) {
    if (!answer.status) continue;
    if (answer.status->index && answer.status->index->synced > 0) {
      return answer.status->index->synced;
    }
    says = true;
  }
  const bool named = status.jobs && !status.jobs->warmup.empty();
  return says || !named ? std::optional(status.index->generation) : std::nullopt;
}

// Whoever is to make its own list is told of no other.
runtime::JobRequest warm_up_request(const api::SampleSet& set, int partition, bool from_first) {
  runtime::JobRequest request{
      .kind = runtime::JobKind::kWarmup,
      .which = {.partition = partition, .partitions = set.spec.effective_partitions()}};
  if (set.spec.warmup) request.which.strategy = runtime::strategy_of(set.spec.warmup->strategy);
  if (from_first) request.which.lists_at = runtime::lists_address(set);
  return request;
}

// The report on the warm-up of that id, or null.
const runtime::JobReport* report_on(const RuntimeReport* answer, const std::string& id) {
  return answer && answer->warmup && answer->warmup->id == id ? &*answer->warmup : nullptr;
}

bool is_through(const runtime::JobReport* report) {
  return report && (report->state == JobState::kSucceeded || report->state == JobState::kCancelled);
}

void forget_warm_up(api::PartitionStatus& partition) {
  partition.warmed = partition.warmed_on = partition.warmed_in = "";
  partition.warmed_bytes = 0;
}

// The client that kept it has started anew and has far less than the warm-up left. Without a
// change of its life it was evicted or cleared, and after a clear `warmed_in` is empty.
bool has_lost_it(const api::PartitionStatus& partition, const std::string& life) {
  return !partition.warmed_in.empty() && !life.empty() && partition.warmed_in != life &&
         partition.cached_bytes < partition.warmed_bytes - partition.warmed_bytes / kFewer;
}

// Its runtime would say that it has done that job.
bool lost_where_it_ended(const World& world, const api::SampleSetStatus& status) {
  return std::ranges::any_of(status.partitions, [&](const auto& partition) {
    return !has_completed(partition, status.jobs->warmup) &&
           is_through(report_on(report_of(world, partition.index), status.jobs->warmup));
  });
}

}  // namespace

void Work::add(const runtime::JobReport& report) {
  api::Work work = runtime_jobs::to_work(report);
  if (ended(report.state)) work.eta_seconds = 0;
  add(work);
  files_no_room += report.files_no_room;
}

void Work::add(const api::Work& work) {
  files_total += work.files_total;
  files_done += work.files_done;
  files_failed += work.files_failed;
  bytes_total += work.bytes_total;
  bytes_done += work.bytes_done;
  bytes_per_second += work.bytes_per_second;
  seconds_left = std::max(seconds_left, work.eta_seconds);
}

std::string to_text(const Work& work) {
  std::string text =
      of_all(with_commas(work.files_done), with_commas(work.files_total), work.files_total > 0) +
      " files";
  if (work.bytes_total > 0 || work.bytes_done > 0) {
    text += ", " +
            of_all(human_size(work.bytes_done), human_size(work.bytes_total), work.bytes_total > 0);
  }
  if (work.bytes_per_second > 0) text += ", " + human_size(work.bytes_per_second) + "/s";
  if (work.seconds_left > 0) text += ", " + how_long(work.seconds_left) + " left";
  return text;
}

bool synced(const api::SampleSetStatus& status) {
  const auto* condition = api::find_condition(status.conditions, "Synced");
  return condition && condition->status == "True";
}

// One failure is enough; done when every runtime that has to is done, and one at least does.
SyncProgress sync_progress(const api::SampleSet& set, const World& world, bool shares_volume,
                           const std::optional<api::SharedSync>& shared) {
  if (set.spec.no_sync) {
    const bool served = is_bound(world) && world.runtimes && world.runtimes->ready > 0;
    return {.state = served ? JobsState::kDone : JobsState::kNotAsked};
  }
  if (!set.status.jobs || set.status.jobs->sync.empty()) return {};
  SyncProgress seen{.state = JobsState::kRunning};
  size_t done = 0, all = 0;
  for (const RuntimeReport& answer : world.runtime_reports) {
    if (shares_volume && answer.partition != 0) continue;
    ++all;
    if (!answer.sync) continue;
    seen.work.add(*answer.sync);
    if (answer.sync->state == JobState::kSucceeded) ++done;
    if (was_given_up(answer.sync->state)) {
      return {.state = JobsState::kFailed, .error = answer.sync->error};
    }
  }
  if (done > 0 && done == all) {
    seen.state = JobsState::kDone;
  } else if (shared) {
    const FirstSyncState now = first_sync_state(*shared);
    if (now.failed) return {.state = JobsState::kFailed, .error = now.error};
    seen.work.add(runtime_jobs::sum(shared->parts));
  }
  return seen;
}

bool is_warmed_up(const api::PartitionStatus& partition) {
  return !partition.warmed.empty() && !partition.node.empty() &&
         partition.warmed_on == partition.node;
}

bool has_completed(const api::PartitionStatus& partition, const std::string& warm_up) {
  return is_warmed_up(partition) && partition.warmed == warm_up_round(warm_up);
}

WarmUpProgress warm_up_progress(const World& world, const api::SampleSetStatus& status) {
  if (!status.jobs || status.jobs->warmup.empty()) return {};
  WarmUpProgress seen{.state = status.partitions.empty() ? JobsState::kRunning : JobsState::kDone};
  for (const auto& partition : status.partitions) {
    const auto* report = report_on(report_of(world, partition.index), status.jobs->warmup);
    if (report) seen.work.add(*report);
    if (has_completed(partition, status.jobs->warmup)) continue;
    if (report && report->state == JobState::kFailed) {
      seen.error = report->error.empty() ? "no reason was given" : report->error;
    } else if (seen.state != JobsState::kFailed) {
      seen.state = JobsState::kRunning;
    }
    if (!seen.error.empty()) seen.state = JobsState::kFailed;
  }
  return seen;
}

bool is_warming_up(const World& world, const api::SampleSetStatus& status) {
  return std::ranges::any_of(world.runtime_reports, [&](const RuntimeReport& answer) {
    const auto* report = status.jobs ? report_on(&answer, status.jobs->warmup) : nullptr;
    return report && !ended(report->state);
  });
}

bool warm_up_given_up(const api::SampleSetStatus& status, const WarmUpProgress& seen) {
  if (!status.jobs || status.jobs->warmup.empty()) return false;
  const int failures = attempt_of(status.jobs->warmup) + (seen.state == JobsState::kFailed ? 1 : 0);
  return failures >= kEnoughTries;
}

void record_warm_ups(const api::SampleSet& set, const World& world, bool shares_volume,
                     api::SampleSetStatus& status) {
  if (!set.status.jobs || set.status.jobs->warmup.empty()) return;
  const std::string& id = set.status.jobs->warmup;
  for (auto& partition : status.partitions) {
    const RuntimeReport* answer = report_of(world, partition.index);
    if (!answer || !answer->status) continue;
    // A runtime without its list has lost its disk, and the samples with it.
    if (!shares_volume && !answer->status->index) forget_warm_up(partition);
    const auto* report = report_on(answer, id);
    const std::string& life = answer->status->cache.life;
    if (is_through(report) && !has_completed(partition, id)) {
      partition.warmed = warm_up_round(id);
      partition.warmed_on = partition.node;
      partition.warmed_in = report->state == JobState::kSucceeded ? life : "";
      partition.warmed_bytes = partition.cached_bytes;
    }
    if (report && report->cleared_since) partition.warmed_in = "";
    if (!is_warmed_up(partition)) continue;
    if (has_lost_it(partition, life)) {
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
  if (!set.spec.no_sync && can_sync && !synced(status)) {
    // A part alone is tried again by itself, unless it is to be another sync.
    const bool whole = !status.sync || first_sync_state(*status.sync).restarts ||
                       set.status.observed_generation != set.meta.generation;
    const bool again =
        status.phase == "SyncFailed" && whole &&
        (may_retry(set, "Synced", jobs.sync, now) || failed_with_others(set, world, now));
    if (jobs.sync.empty() || again) {
      jobs.sync = next_sync_id(set, jobs.sync);
      if (shares_volume) status.sync = start_first_sync(set, status.sync, jobs.sync);
    }
    if (again) status.phase = "Mount";
  }
  const auto generation = synced_generation(world, status);
  if (synced(status) && set.spec.warms_up_by_itself() && generation) {
    const std::string wanted = warm_up_id(set, *generation, jobs.warmup);
    if (jobs.warmup != wanted) {
      jobs.warmup = wanted;
    } else if (lost_where_it_ended(world, status)) {
      jobs.warmup = warm_up_after_loss(jobs.warmup);
    } else if (warm_up_progress(world, status).state == JobsState::kFailed &&
               may_retry(set, "Warmed", jobs.warmup, now)) {
      jobs.warmup = warm_up_after_failure(jobs.warmup);
    }
  }
  if (jobs != api::JobsName{}) status.jobs = jobs;
}

void put_jobs(const api::SampleSet& set, const World& world, bool shares_volume,
              const std::set<int>& may_sync, const api::SampleSetStatus& next, Plan& plan) {
  if (!set.status.jobs) return;
  const auto& jobs = *set.status.jobs;
  const auto needs_warm_up = [&](const RuntimeReport& answer) {
    const auto at = static_cast<size_t>(answer.partition);
    return !answer.warmup && at < next.partitions.size() &&
           !has_completed(next.partitions[at], jobs.warmup);
  };
  // It hands out lists of a warm-up that it does itself. One that is through with it is not asked
  // again, for somebody may have cleared its cache: then the others make theirs by the same rule.
  const RuntimeReport* first = shares_volume ? report_of(world, 0) : nullptr;
  const bool first_hands_out = first && first->warmup;
  const bool first_comes_first = first && first->status && needs_warm_up(*first);
  for (const RuntimeReport& answer : world.runtime_reports) {
    if (!answer.status) continue;  // could not be asked: neither can it be told
    const bool leads = shares_volume && answer.partition == 0;
    const bool must_sync = synced(set.status) ? !shares_volume && !answer.status->index
                                              : may_sync.contains(answer.partition);
    const bool alone = !set.status.sync && (leads || !shares_volume);
    if (!jobs.sync.empty() && !answer.sync && must_sync && alone) {
      plan.actions.emplace_back(
          PutJob{answer.partition, jobs.sync, {.kind = runtime::JobKind::kSync}});
    }
    if (jobs.warmup.empty() || !set.spec.warms_up_by_itself() || !synced(set.status)) continue;
    if (!shares_volume && !answer.status->index) continue;
    if (!needs_warm_up(answer) || (first_comes_first && !leads)) continue;
    plan.actions.emplace_back(
        PutJob{answer.partition, jobs.warmup,
               warm_up_request(set, answer.partition, first_hands_out && !leads)});
  }
}

}  // namespace paddle::controllers::sample_set
