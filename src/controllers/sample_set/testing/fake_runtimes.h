// SPDX-License-Identifier: Apache-2.0
//
// The runtimes of all sets, in memory, for tests of the reconciler. Thread-safe.

#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/sync.h"
#include "runtime/runtime_client.h"
#include "runtime/runtime_polls.h"
#include "runtime/runtime_sends.h"

namespace paddle::controllers::sample_set {

// Accepts jobs like a runtime; a job has succeeded when it is polled for the second time.
class FakeRuntimes {
 public:
  runtime::RuntimeClientFactory clients() {
    return [this](const std::string& address, const runtime::RuntimeCredentials& access)
               -> std::unique_ptr<runtime::RuntimeClient> {
      return std::make_unique<One>(*this, address, access.token);
    };
  }
  std::set<std::string> jobs_of(const std::string& address) EXCLUDES(mutex_) {
    Lock lock(mutex_);
    std::set<std::string> ids;
    for (const auto& [id, report] : jobs_[address]) ids.insert(id);
    return ids;
  }
  std::set<std::string> tokens() EXCLUDES(mutex_) {
    Lock lock(mutex_);
    return tokens_;
  }
  // From now on jobs do not end, and each poll finds more progress.
  void work_for_ever() EXCLUDES(mutex_) {
    Lock lock(mutex_);
    for_ever_ = true;
  }
  int polled_jobs() EXCLUDES(mutex_) {
    Lock lock(mutex_);
    return polled_jobs_;
  }

 private:
  class One final : public runtime::RuntimeClient {
   public:
    One(FakeRuntimes& all, std::string address, std::string token)
        : all_(all), address_(std::move(address)), token_(std::move(token)) {}
    Result<runtime::StatusReport> status(std::stop_token) override {
      return all_.status(address_, token_);
    }
    Result<runtime::JobReport> job(const std::string& id, std::stop_token) override {
      return all_.job(address_, id);
    }
    Result<std::vector<runtime::JobReport>> jobs(std::stop_token) override {
      return Error{Code::kUnavailable, "not used by SampleSets"};
    }
    Result<runtime::JobReport> put_job(const std::string& id, const runtime::JobRequest& request,
                                       std::stop_token) override {
      return all_.put(address_, id, request);
    }
    Result<> cancel(const std::string&, std::stop_token) override { return Done{}; }

   private:
    FakeRuntimes& all_;
    const std::string address_;
    const std::string token_;
  };

  Result<runtime::StatusReport> status(const std::string& address, const std::string& token)
      EXCLUDES(mutex_) {
    Lock lock(mutex_);
    tokens_.insert(token);
    runtime::StatusReport report{.engine = "samplefs"};
    for (const auto& [id, job] : jobs_[address]) {
      if (job.kind == runtime::JobKind::kSync && job.state == runtime::JobState::kSucceeded) {
        report.index = runtime::IndexReport{.generation = 1, .files = 10, .bytes = 4096};
      }
      if (job.kind == runtime::JobKind::kWarmup && job.state == runtime::JobState::kSucceeded) {
        report.cache.bytes = 4096;
      }
    }
    return report;
  }
  Result<runtime::JobReport> job(const std::string& address, const std::string& id)
      EXCLUDES(mutex_) {
    Lock lock(mutex_);
    const auto found = jobs_[address].find(id);
    if (found == jobs_[address].end()) return Error{Code::kNotFound, "no such job"};
    ++polled_jobs_;
    found->second.progress.bytes_total = 1'000'000'000;
    found->second.progress.bytes_done += 1'000'000;
    const auto polled = found->second;
    if (!for_ever_) found->second.state = runtime::JobState::kSucceeded;
    return polled;
  }
  Result<runtime::JobReport> put(const std::string& address, const std::string& id,
                                 const runtime::JobRequest& request) EXCLUDES(mutex_) {
    Lock lock(mutex_);
    auto& slot = jobs_[address];
    slot.try_emplace(id, runtime::JobReport{
                             .id = id, .kind = request.kind, .state = runtime::JobState::kRunning});
    return slot[id];
  }

  Mutex mutex_;
  std::map<std::string, std::map<std::string, runtime::JobReport>> jobs_ GUARDED_BY(mutex_);
  std::set<std::string> tokens_ GUARDED_BY(mutex_);
  bool for_ever_ GUARDED_BY(mutex_) = false;
  int polled_jobs_ GUARDED_BY(mutex_) = 0;
};

}  // namespace paddle::controllers::sample_set
