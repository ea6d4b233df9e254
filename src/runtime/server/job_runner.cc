// SPDX-License-Identifier: Apache-2.0
#include "runtime/server/job_runner.h"

#include <utility>

#include "base/log.h"

namespace paddle::runtime {
namespace {

// The request with the id of the job in it.
JobRequest request_of(const Job& job) {
  JobRequest request = job.request;
  request.which.job = job.report.id;
  // A part that is tried again has the lists of the first attempt.
  request.sync.job = request.sync.division.empty() ? job.report.id : request.sync.division;
  return request;
}

}  // namespace

JobRunner::JobRunner(std::unique_ptr<Journal> journal, engine::NodeEngine& engine)
    : journal_(std::move(journal)), engine_(engine) {}

Result<std::unique_ptr<JobRunner>> JobRunner::start(std::unique_ptr<Journal> journal,
                                                    engine::NodeEngine& engine) {
  std::unique_ptr<JobRunner> jobs(new JobRunner(std::move(journal), engine));
  TRY(std::vector<Job> known, jobs->journal_->load());
  {
    Lock lock(jobs->mutex_);
    jobs->table_.restore(std::move(known));
    for (const std::string& id : jobs->table_.forgotten()) jobs->journal_->remove(id);
  }
  for (const JobKind kind : api::kJobKinds) {
    jobs->threads_.emplace_back(
        [self = jobs.get(), kind](const std::stop_token& end) { self->work(kind, end); });
  }
  return jobs;
}

JobRunner::~JobRunner() {
  for (std::jthread& thread : threads_) thread.request_stop();
  {
    Lock lock(mutex_);
    for (auto& [id, stop] : running_) stop.request_stop();
  }
  threads_.clear();  // joins
}

Result<JobReport> JobRunner::put(const std::string& id, const JobRequest& request) {
  Lock lock(mutex_);
  const bool known = table_.find(id) != nullptr;
  TRY(const Job job, table_.put(id, request));
  if (known) return job.report;
  if (auto written = store(job); !written) {
    table_.withdraw(id);  // it was not confirmed to the caller
    return std::move(written).error();
  }
  wake_.notify_all();
  return job.report;
}

std::optional<JobReport> JobRunner::find(const std::string& id) const {
  Lock lock(mutex_);
  const Job* job = table_.find(id);
  if (!job) return std::nullopt;
  JobReport report = job->report;
  report.cleared_since = table_.cleared_since(*job);
  return report;
}

std::vector<JobReport> JobRunner::all() const {
  Lock lock(mutex_);
  return table_.all();
}

std::string JobRunner::latest_success(JobKind kind) const {
  Lock lock(mutex_);
  return table_.latest_success(kind);
}

std::optional<LastWarmUp> JobRunner::last_warm_up() const {
  Lock lock(mutex_);
  return table_.last_warm_up();
}

void JobRunner::cancel(const std::string& id) {
  Lock lock(mutex_);
  const auto cancelled = table_.cancel(id);
  if (cancelled.running) {
    running_[id].request_stop();
    note(*table_.find(id));
  }
  if (cancelled.job) note(*cancelled.job);
  wake_.notify_all();  // another kind may wait for it
}

Result<> JobRunner::store(const Job& job) const {
  if (!job.request.sync.keys.values.empty()) return Done{};
  return journal_->write(job);
}

// If the journal cannot be written, a job may be run once more.
void JobRunner::note(const Job& job) const {
  if (auto written = store(job); !written) {
    log::warn("cannot write the journal", {{"reason", written.error().message}});
  }
}

void JobRunner::work(JobKind kind, const std::stop_token& end) {
  while (!end.stop_requested()) {
    std::optional<Job> job;
    std::stop_token stop;
    {
      Lock lock(mutex_);
      while (!end.stop_requested() && !(job = table_.start(kind))) wake_.wait(mutex_, end);
      if (!job) return;
      if (end.stop_requested()) return;  // still queued in the journal
      note(*job);
      stop = running_[job->report.id].get_token();
    }
    const std::string id = job->report.id;
    log::info("job begins", {{"id", id}, {"kind", to_string(kind)}});
    const auto outcome = execute(*job, stop);
    journal_->forget_starts(id);
    Lock lock(mutex_);
    running_.erase(id);
    const Job* known = table_.find(id);
    if (end.stop_requested() && outcome.is(Code::kCancelled) && !(known && known->cancelled)) {
      return;  // the next process runs it again
    }
    if (const auto done = table_.finish(id, outcome)) note(*done);
    wake_.notify_all();  // another kind may wait for it
    for (const std::string& old : table_.forgotten()) journal_->remove(old);
    if (outcome) {
      log::info("job succeeded", {{"id", id}, {"kind", to_string(kind)}});
    } else {
      log::warn("job ended", {{"id", id},
                              {"kind", to_string(kind)},
                              {"code", name(outcome.error().code)},
                              {"reason", outcome.error().message}});
    }
  }
}

Result<> JobRunner::execute(const Job& job, std::stop_token stop) {
  const auto starts = journal_->count_start(job.report.id);
  if (!starts) {
    log::warn("cannot count how often a job is killed", {{"reason", starts.error().message}});
  } else if (*starts > kMostKills) {
    return Error{Code::kUnavailable,
                 "the runtime was killed " + std::to_string(kMostKills) +
                     " times while it had this job, so it is not run again; if the last state of "
                     "the runtime's container is OOMKilled, give it more memory, or the job fewer "
                     "threads"};
  } else if (*starts > 1) {
    log::warn("the runtime was killed while it had this job; it is run again",
              {{"id", job.report.id}, {"kills", *starts - 1}, {"most", kMostKills}});
  }
  const auto report = [&](const engine::Progress& progress) {
    Lock lock(mutex_);
    table_.update_progress(job.report.id, progress);
  };
  return engine_.run(request_of(job), report, std::move(stop));
}

}  // namespace paddle::runtime
