// SPDX-License-Identifier: Apache-2.0
#include "runtime/server/job_table.h"

#include <algorithm>
#include <utility>

namespace paddle::runtime {
namespace {

bool same(const JobRequest& one, JobRequest other) {
  other.which.again = one.which.again;
  return one == other;
}

// At a character of UTF-8.
std::string cut_error(std::string text) {
  if (text.size() <= kLongestJobError) return text;
  std::size_t end = kLongestJobError;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

bool waits_for(JobKind kind, JobKind other) {
  return kind == other || (api::info_of(kind).changes_set && api::info_of(other).changes_set);
}

}  // namespace

void JobTable::restore(std::vector<Job> jobs) {
  for (Job& job : jobs) {
    if (job.report.state == JobState::kRunning) {
      job.report = {.id = job.report.id, .kind = job.request.kind};
      job.request.which.again = true;
      if (job.cancelled) {
        job.report.state = JobState::kCancelled;
        job.report.error = "stopped";
      }
    }
    next_ = std::max(next_, job.number + 1);
    const std::string id = job.report.id;
    jobs_[id] = std::move(job);
  }
  forget_old();
}

Result<Job> JobTable::put(const std::string& id, const JobRequest& request) {
  if (const auto known = jobs_.find(id); known != jobs_.end()) {
    if (same(known->second.request, request)) return known->second;
    return Error{Code::kConflict, "another job has the id " + id + "; choose a new one"};
  }
  const auto waiting = std::count_if(jobs_.begin(), jobs_.end(), [](const auto& each) {
    return !ended(each.second.report.state);
  });
  if (static_cast<std::size_t>(waiting) >= kWaiting) {
    return Error{Code::kThrottled, "too many unfinished jobs; cancel some or try again later"};
  }
  Job job{.number = next_++, .request = request, .report = {.id = id, .kind = request.kind}};
  jobs_[id] = job;
  return job;
}

const Job* JobTable::find(const std::string& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

std::vector<JobReport> JobTable::all() const {
  std::vector<const Job*> jobs;
  for (const auto& [id, job] : jobs_) jobs.push_back(&job);
  std::sort(jobs.begin(), jobs.end(), [](auto* a, auto* b) { return a->number < b->number; });
  std::vector<JobReport> reports;
  for (const Job* job : jobs) reports.push_back(job->report);
  return reports;
}

std::string JobTable::latest_success(JobKind kind) const {
  const Job* latest = nullptr;
  for (const auto& [id, job] : jobs_) {
    if (job.report.kind != kind || job.report.state != JobState::kSucceeded) continue;
    if (job.request.sync.parts > 1) continue;  // the caller sends a commit marker when all are done
    if (job.request.sync.dry) continue;
    if (!latest || job.number > latest->number) latest = &job;
  }
  return latest ? latest->report.id : "";
}

bool JobTable::cleared_since(const Job& job) const {
  return std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& each) {
    return each.second.report.kind == JobKind::kClear && each.second.number > job.number;
  });
}

std::optional<LastWarmUp> JobTable::last_warm_up() const {
  const Job* last = nullptr;
  for (const auto& [id, job] : jobs_) {
    if (job.report.kind != JobKind::kWarmup) continue;
    if (!last || job.number > last->number) last = &job;
  }
  if (!last) return std::nullopt;
  return LastWarmUp{.ended = ended(last->report.state),
                    .files_no_room = last->report.progress.files_no_room,
                    .cleared_since = cleared_since(*last)};
}

std::optional<Job> JobTable::start(JobKind kind) {
  Job* first = nullptr;
  for (auto& [id, job] : jobs_) {
    if (!waits_for(kind, job.request.kind)) continue;
    if (job.report.state == JobState::kRunning) return std::nullopt;
    if (job.report.state == JobState::kQueued && (!first || job.number < first->number)) {
      first = &job;
    }
  }
  if (!first || first->request.kind != kind) return std::nullopt;
  first->report.state = JobState::kRunning;
  return *first;
}

void JobTable::update_progress(const std::string& id, const engine::Progress& progress) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || found->second.report.state != JobState::kRunning) return;
  found->second.report.progress = progress;
}

std::optional<Job> JobTable::finish(const std::string& id, const Result<>& outcome) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || found->second.report.state != JobState::kRunning) return {};
  JobReport& report = found->second.report;
  report.progress.seconds_left.reset();
  if (outcome) {
    report.state = JobState::kSucceeded;
  } else {
    report.state = outcome.is(Code::kCancelled) ? JobState::kCancelled : JobState::kFailed;
    report.error = cut_error(outcome.error().message);
  }
  Job job = found->second;
  forget_old();
  return job;
}

JobTable::Cancelled JobTable::cancel(const std::string& id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return {};
  JobReport& report = found->second.report;
  if (report.state == JobState::kRunning) {
    found->second.cancelled = true;
    return {.running = true};
  }
  if (report.state != JobState::kQueued) return {};
  report.state = JobState::kCancelled;
  Job job = found->second;
  forget_old();
  return {.running = false, .job = std::move(job)};
}

void JobTable::forget_old() {
  std::map<JobKind, std::vector<std::pair<std::uint64_t, std::string>>> kinds;
  for (const auto& [id, job] : jobs_) {
    if (ended(job.report.state)) kinds[job.request.kind].emplace_back(job.number, id);
  }
  for (auto& [kind, over] : kinds) {
    if (over.size() <= kKept) continue;
    std::sort(over.begin(), over.end());
    over.resize(over.size() - kKept);
    for (auto& [number, id] : over) {
      jobs_.erase(id);
      forgotten_.push_back(std::move(id));
    }
  }
}

std::vector<std::string> JobTable::forgotten() { return std::exchange(forgotten_, {}); }

}  // namespace paddle::runtime
