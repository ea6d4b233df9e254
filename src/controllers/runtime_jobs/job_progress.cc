// SPDX-License-Identifier: Apache-2.0
#include "controllers/runtime_jobs/job_progress.h"

#include <algorithm>
#include <iterator>

#include "base/units.h"

namespace paddle::controllers::runtime_jobs {
namespace {

constexpr int kListedFailures = 3;
constexpr std::size_t kListedProblems = 3;

std::int64_t percent(std::int64_t done, std::int64_t total) {
  if (total <= 0) return 0;
  return std::clamp<std::int64_t>(
      static_cast<std::int64_t>(100.0 * static_cast<double>(done) / static_cast<double>(total)), 0,
      100);
}

}  // namespace

std::string partition_state(runtime::JobState state) {
  switch (state) {
    case runtime::JobState::kQueued:
      return kPending;
    case runtime::JobState::kRunning:
      return kRunning;
    case runtime::JobState::kSucceeded:
      return kSucceeded;
    case runtime::JobState::kFailed:
      return kFailed;
    case runtime::JobState::kCancelled:
      return kCancelled;
  }
  return kPending;
}

bool ended(const std::string& state) { return api::partition_state::is_final(state); }

api::Work to_work(const runtime::JobReport& report) {
  const engine::Progress& progress = report.progress;
  return {.files_total = progress.files_total,
          .files_done = progress.files_done,
          .files_failed = progress.files_failed,
          .bytes_total = progress.bytes_total,
          .bytes_done = progress.bytes_done,
          .bytes_per_second = ended(partition_state(report.state)) ? 0 : progress.bytes_per_second,
          .eta_seconds = progress.seconds_left.value_or(0)};
}

api::Work sum(const std::vector<api::JobPartition>& partitions) {
  api::Work all;
  for (const auto& each : partitions) {
    if (!each.work) continue;
    all.files_total += each.work->files_total;
    all.files_done += each.work->files_done;
    all.files_failed += each.work->files_failed;
    all.bytes_total += each.work->bytes_total;
    all.bytes_done += each.work->bytes_done;
    all.bytes_per_second += each.work->bytes_per_second;
    all.eta_seconds = std::max(all.eta_seconds, each.work->eta_seconds);  // they run in parallel
  }
  return all;
}

api::Work common_work(const std::vector<api::JobPartition>& partitions) {
  api::Work all;
  bool first = true;
  for (const auto& each : partitions) {
    const api::Work work = each.work.value_or(api::Work{});
    all.files_total = std::max(all.files_total, work.files_total);
    all.bytes_total = std::max(all.bytes_total, work.bytes_total);
    all.files_failed = std::max(all.files_failed, work.files_failed);
    all.eta_seconds = std::max(all.eta_seconds, work.eta_seconds);
    all.files_done = first ? work.files_done : std::min(all.files_done, work.files_done);
    all.bytes_done = first ? work.bytes_done : std::min(all.bytes_done, work.bytes_done);
    all.bytes_per_second += work.bytes_per_second;
    first = false;
  }
  const bool ended_everywhere = std::ranges::all_of(
      partitions, [](const api::JobPartition& part) { return ended(part.state); });
  if (!ended_everywhere) return all;
  for (const auto& each : partitions) {  // nodes may have had different files
    if (!each.work) continue;
    all.files_done = std::max(all.files_done, each.work->files_done);
    all.bytes_done = std::max(all.bytes_done, each.work->bytes_done);
  }
  return all;
}

std::optional<api::Verification> sum_of_verifications(
    const std::vector<api::JobPartition>& partitions) {
  std::optional<api::Verification> all;
  for (const auto& each : partitions) {
    if (!each.verification) continue;
    const api::Verification& found = *each.verification;
    if (!all) all.emplace();
    all->checked += found.checked;
    all->compared += found.compared;
    all->missing += found.missing;
    all->stale += found.stale;
    all->corrupt += found.corrupt;
    all->repaired += found.repaired;
    all->first_problems.insert(all->first_problems.end(), found.first_problems.begin(),
                               found.first_problems.end());
  }
  if (!all) return all;
  std::ranges::stable_sort(all->first_problems, {}, [](const api::FoundProblem& each) {
    return std::ranges::find_if(api::kSampleProblems,
                                [&](const char* name) { return each.problem == name; }) -
           std::begin(api::kSampleProblems);
  });
  if (all->first_problems.size() > api::Verification::kMostNamed) {
    all->first_problems.resize(api::Verification::kMostNamed);
  }
  return all;
}

std::string verification_text(const api::Verification& found) {
  std::string problems;
  const auto add = [&](std::int64_t count, const char* what) {
    if (count <= 0) return;
    problems += (problems.empty() ? "" : ", ") + with_commas(count) + " " + what;
  };
  add(found.corrupt, api::sample_problem::kCorrupt);
  add(found.stale, api::sample_problem::kStale);
  add(found.missing, api::sample_problem::kMissing);
  const std::string checked = with_commas(found.checked) +
                              (found.checked == 1 ? " sample checked: " : " samples checked: ");
  if (problems.empty()) return checked + "all are right";
  if (found.repaired > 0) problems += "; " + with_commas(found.repaired) + " repaired";
  for (std::size_t i = 0; i < std::min(found.first_problems.size(), kListedProblems); ++i) {
    const api::FoundProblem& each = found.first_problems[i];
    problems += (i == 0 ? "; the first: '" : ", '") + each.path + "' (" + each.problem + ")";
  }
  if (found.corrupt + found.missing > found.repaired) {
    problems += "; a job with verifyOptions.repair fetches samples again";
  }
  if (found.stale > 0) problems += "; a sync brings what is stale up to date";
  return checked + problems;
}

std::string progress_text(const api::Work& work) {
  if (work.bytes_total > 0) {
    return std::to_string(percent(work.bytes_done, work.bytes_total)) + "% " +
           human_size(work.bytes_done) + "/" + human_size(work.bytes_total);
  }
  if (work.files_total > 0) {
    return std::to_string(percent(work.files_done, work.files_total)) + "% " +
           with_commas(work.files_done) + "/" + with_commas(work.files_total) + " files";
  }
  return work.files_done > 0 ? with_commas(work.files_done) + " files" : "";
}

std::string amount_text(const api::Work& work) {
  std::string text;
  if (work.files_done > 0) text = with_commas(work.files_done) + " files";
  if (work.bytes_done > 0) text += (text.empty() ? "" : ", ") + human_size(work.bytes_done);
  if (work.files_failed > 0) {
    text += (text.empty() ? "" : ", ") + with_commas(work.files_failed) + " failed";
  }
  return text;
}

std::string left_out_text(const engine::LeftOut& left) {
  if (left.count <= 0) return "";
  std::string text =
      with_commas(left.count) + (left.count == 1 ? " object of the source is left out"
                                                 : " objects of the source are left out");
  for (std::size_t i = 0; i < left.examples.size(); ++i) {
    text += (i == 0 ? ": " : ", ") + left.examples[i];
  }
  const std::int64_t more = left.count - static_cast<std::int64_t>(left.examples.size());
  if (!left.examples.empty() && more > 0) text += " and " + with_commas(more) + " more";
  return text;
}

std::string left_by_removal_text(const engine::LeftOut& left) {
  if (left.count <= 0) return "";
  return with_commas(left.count) + (left.count == 1
                                        ? " file that is newer than the removal is left"
                                        : " files that are newer than the removal are left");
}

std::string failures_text(const std::vector<api::JobPartition>& partitions) {
  std::string text;
  int listed = 0, more = 0;
  for (const auto& each : partitions) {
    if (each.state != kFailed && each.state != kCancelled) continue;
    if (listed == kListedFailures) {
      ++more;
      continue;
    }
    ++listed;
    text += (text.empty() ? "" : "; ") + ("partition " + std::to_string(each.index));
    if (!each.node.empty()) text += " on " + each.node;
    text += ": " + (each.message.empty() ? std::string("cancelled") : each.message);
  }
  if (more > 0) text += "; and " + std::to_string(more) + " more";
  return text;
}

}  // namespace paddle::controllers::runtime_jobs
