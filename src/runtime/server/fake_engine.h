// SPDX-License-Identifier: Apache-2.0
//
// For tests: an engine whose calls the test blocks, releases and inspects.

#pragma once

#include <string>
#include <vector>

#include "base/sync.h"
#include "engine/node_engine.h"

namespace paddle::runtime {

// Each call is recorded and, after block(), waits until it is released or stopped.
class FakeEngine final : public engine::NodeEngine {
 public:
  std::string name() const override { return "fake"; }
  Result<> run(const engine::JobRequest& job, const engine::ProgressSink& report,
               std::stop_token stop) override {
    return act(label(job), report, std::move(stop));
  }
  Result<std::string> list_for(const std::string& job, std::int32_t partition) override {
    if (job != "listed") return Error{Code::kNotFound, "no list of '" + job + "'"};
    return "part " + std::to_string(partition) + "\n";
  }
  engine::Status status() override {
    engine::Status status;
    status.index = engine::Status::Index{.generation = 3, .digest = "d", .files = 2, .bytes = 20};
    status.cached_bytes = 10;
    status.from_cache = 5;
    return status;
  }

  void block() EXCLUDES(mutex_) {
    Lock lock(mutex_);
    blocked_ = true;
  }
  void ignore_stop() EXCLUDES(mutex_) {  // until released
    Lock lock(mutex_);
    ignores_stop_ = true;
  }
  void release(Result<> outcome = Done{}) EXCLUDES(mutex_) {
    Lock lock(mutex_);
    blocked_ = ignores_stop_ = false;
    outcome_ = std::move(outcome);
    changed_.notify_all();
  }
  std::vector<std::string> calls() const EXCLUDES(mutex_) {
    Lock lock(mutex_);
    return calls_;
  }

 private:
  static std::string label(const engine::JobRequest& job) {
    const auto& [kind, sync, which] = job;
    if (sync.parts > 1) return "sync part of " + sync.job;
    if (kind == api::JobKind::kRemove) return "remove";
    if (kind != api::JobKind::kWarmup) return to_string(kind);
    return "warm_up " + std::to_string(which.partition) + "/" + std::to_string(which.partitions);
  }
  Result<> act(const std::string& what, const engine::ProgressSink& report, std::stop_token stop)
      EXCLUDES(mutex_) {
    report({.files_total = 2, .files_done = 1});
    Lock lock(mutex_);
    calls_.push_back(what);
    while (blocked_) {
      if (stop.stop_requested() && !ignores_stop_) return Error{Code::kCancelled, "stopped"};
      changed_.wait(mutex_, ignores_stop_ ? std::stop_token() : stop);
    }
    return outcome_;
  }

  mutable Mutex mutex_;
  CondVar changed_;
  bool blocked_ GUARDED_BY(mutex_) = false;
  bool ignores_stop_ GUARDED_BY(mutex_) = false;
  Result<> outcome_ GUARDED_BY(mutex_) = Done{};
  std::vector<std::string> calls_ GUARDED_BY(mutex_);
};

}  // namespace paddle::runtime
