// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/jobs.h"

#include <algorithm>
#include <charconv>

#include "base/units.h"
#include "controllers/sample_set/seats.h"
#include "runtime/warm_up.h"

namespace paddle::controllers::sample_sets {
namespace {

using runtime::JobState;

constexpr int kEnoughTries = 3;
constexpr const char* kAgain = "-r";

std::string uid8(const api::SampleSet& set) { return set.meta.uid.substr(0, 8); }

// Without the number of the attempt.
std::string base_of(const std::string& warmup) { return warmup.substr(0, warmup.rfind(kAgain)); }

std::string how_long(std::int64_t seconds) {
  if (seconds < 120) return std::to_string(seconds) + " s";
  if (seconds < 7200) return std::to_string((seconds + 30) / 60) + " min";
  return std::to_string((seconds + 1800) / 3600) + " h";
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

runtime::JobRequest warm_up_request(const api::SampleSet& set, int partition, bool first_leads) {
  runtime::JobRequest request{
      .kind = runtime::JobKind::kWarmup,
      .which = {.partition = partition, .partitions = set.spec.effective_partitions()}};
  if (set.spec.warmup) request.which.strategy = runtime::strategy_of(set.spec.warmup->strategy);
  if (first_leads && partition > 0) {
    request.which.lists_at = runtime::lists_address(set);
  }
  return request;
}

}  // namespace

void Work::add(const runtime::JobReport& report) {
  files_total += report.files_total;
  files_done += report.files_done;
  files_failed += report.files_failed;
  files_no_room += report.files_no_room;
  bytes_total += report.bytes_total;
  bytes_done += report.bytes_done;
  if (ended(report.state)) return;
  bytes_per_second += report.bytes_per_second;
  seconds_left = std::max(seconds_left, report.seconds_left.value_or(0));
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
SyncSeen sync_of(const api::SampleSet& set, const World& world, bool first_leads) {
  if (set.spec.no_sync) {
    const bool served = is_bound(world) && world.runtimes && world.runtimes->ready > 0;
    return {.state = served ? JobsState::kDone : JobsState::kNotAsked};
  }
  if (!set.status.jobs || set.status.jobs->sync.empty()) return {};
  SyncSeen seen{.state = JobsState::kRunning};
  size_t done = 0, all = 0;
  for (const RuntimeSeen& answer : world.answers) {
    if (first_leads && answer.partition != 0) continue;
    ++all;
    if (!answer.sync) continue;
    seen.work.add(*answer.sync);
    if (answer.sync->state == JobState::kSucceeded) ++done;
    if (was_given_up(answer.sync->state)) {
      return {.state = JobsState::kFailed, .error = answer.sync->error};
    }
  }
  if (done > 0 && done == all) seen.state = JobsState::kDone;
  return seen;
}

bool has_been_warm(const api::PartitionStatus& partition) {
  return !partition.warmed.empty() && !partition.node.empty() &&
         partition.warmed_on == partition.node;
}

WarmSeen warm_up_of(const World& world, const api::SampleSetStatus& status) {
  if (!status.jobs || status.jobs->warmup.empty()) return {};
  const std::string base = base_of(status.jobs->warmup);
  WarmSeen seen{.state = status.partitions.empty() ? JobsState::kRunning : JobsState::kDone};
  for (const auto& partition : status.partitions) {
    const RuntimeSeen* answer = answer_of(world, partition.index);
    const runtime::JobReport* report = answer && answer->warmup ? &*answer->warmup : nullptr;
    if (report && report->id != status.jobs->warmup) report = nullptr;
    if (report) seen.work.add(*report);
    if (has_been_warm(partition) && partition.warmed == base) continue;
    if (report && report->state == JobState::kFailed) {
      seen.error = report->error.empty() ? "no reason was given" : report->error;
    } else if (seen.state != JobsState::kFailed) {
      seen.state = JobsState::kRunning;
    }
    if (!seen.error.empty()) seen.state = JobsState::kFailed;
  }
  return seen;
}

bool warm_up_given_up(const api::SampleSetStatus& status, const WarmSeen& seen) {
  if (!status.jobs || status.jobs->warmup.empty()) return false;
  const int failures = attempt_of(status.jobs->warmup) + (seen.state == JobsState::kFailed ? 1 : 0);
  return failures >= kEnoughTries;
}

void note_warm(const api::SampleSet& set, const World& world, bool first_leads,
               api::SampleSetStatus& status) {
  if (!set.status.jobs || set.status.jobs->warmup.empty()) return;
  for (auto& partition : status.partitions) {
    const RuntimeSeen* answer = answer_of(world, partition.index);
    if (!answer || !answer->status) continue;
    // A runtime without its list has lost its disk, and the samples with it.
    if (!first_leads && !answer->status->index) partition.warmed = partition.warmed_on = "";
    if (!answer->warmup || answer->warmup->id != set.status.jobs->warmup) continue;
    const JobState state = answer->warmup->state;
    if (state != JobState::kSucceeded && state != JobState::kCancelled) continue;
    partition.warmed = base_of(answer->warmup->id);
    partition.warmed_on = partition.node;
  }
}

void name_jobs(const api::SampleSet& set, const World& world, WallTime now,
               api::SampleSetStatus& status) {
  api::JobsName jobs = status.jobs.value_or(api::JobsName{});
  const bool can_sync = is_bound(world) && world.runtimes && world.runtimes->ready > 0;
  if (!set.spec.no_sync && can_sync && !synced(status)) {
    if (jobs.sync.empty()) {
      jobs.sync = "sync-" + uid8(set) + "-0";
    } else if (status.phase == "SyncFailed" && may_retry(set, "Synced", jobs.sync, now)) {
      jobs.sync = "sync-" + uid8(set) + "-" + std::to_string(attempt_of(jobs.sync) + 1);
      status.phase = "Mount";
    }
  }
  if (synced(status) && set.spec.warms_up_by_itself() && status.index) {
    const std::string base = "warmup-" + uid8(set) + "-" +
                             std::to_string(status.index->generation) + "-" +
                             std::to_string(set.spec.effective_partitions());
    if (base_of(jobs.warmup) != base) {
      jobs.warmup = base;
    } else if (warm_up_of(world, status).state == JobsState::kFailed &&
               may_retry(set, "Warmed", jobs.warmup, now)) {
      jobs.warmup = base + kAgain + std::to_string(attempt_of(jobs.warmup) + 1);
    }
  }
  if (jobs != api::JobsName{}) status.jobs = jobs;
}

void put_jobs(const api::SampleSet& set, const World& world, bool first_leads,
              const api::SampleSetStatus& next, Plan& plan) {
  if (!set.status.jobs) return;
  const auto& jobs = *set.status.jobs;
  const RuntimeSeen* first = answer_of(world, 0);
  const auto needs_warm_up = [&](const RuntimeSeen& answer) {
    const auto at = static_cast<size_t>(answer.partition);
    return !answer.warmup && at < next.partitions.size() &&
           !(has_been_warm(next.partitions[at]) &&
             next.partitions[at].warmed == base_of(jobs.warmup));
  };
  const bool list_wanted = first_leads && std::ranges::any_of(world.answers, needs_warm_up);
  for (const RuntimeSeen& answer : world.answers) {
    if (!answer.status) continue;  // could not be asked: neither can it be told
    const bool leads = first_leads && answer.partition == 0;
    const bool must_sync = !synced(set.status) || (!first_leads && !answer.status->index);
    if (!jobs.sync.empty() && !answer.sync && must_sync && (leads || !first_leads)) {
      plan.actions.emplace_back(
          PutJob{answer.partition, jobs.sync, {.kind = runtime::JobKind::kSync}});
    }
    if (jobs.warmup.empty() || !set.spec.warms_up_by_itself() || !synced(set.status)) continue;
    if (!first_leads && !answer.status->index) continue;
    // Others ask the first one for their lists, so it has to know of them before.
    const bool lists_known = !first_leads || leads || (first && first->warmup);
    const bool asked_for_lists = leads && list_wanted && !answer.warmup;
    if ((needs_warm_up(answer) && lists_known) || asked_for_lists) {
      plan.actions.emplace_back(PutJob{answer.partition, jobs.warmup,
                                       warm_up_request(set, answer.partition, first_leads)});
    }
  }
}

int attempt_of(const std::string& id) {
  auto at = id.rfind(kAgain);
  if (at != std::string::npos) {
    at += 2;
  } else if (id.starts_with("sync-")) {
    at = id.rfind('-') + 1;
  } else {
    return 0;
  }
  int number = 0;
  std::from_chars(id.data() + at, id.data() + id.size(), number);
  return number;
}

std::chrono::seconds retry_delay(const std::string& id) {
  return std::chrono::seconds(10) * (1 << std::clamp(attempt_of(id), 0, 6));
}

}  // namespace paddle::controllers::sample_sets
