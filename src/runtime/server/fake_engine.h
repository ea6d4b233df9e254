// SPDX-License-Identifier: Apache-2.0
//
// For tests: an engine that does as it is told.

#pragma once

#include <string>
#include <vector>

#include "base/sync.h"
#include "engine/node_engine.h"

namespace paddle::runtime {

// Each call waits until it is let go or stopped, and is written down.
class FakeEngine final : public engine::NodeEngine {
 public:
  std::string name() const override { return "fake"; }
  Result<> sync(const engine::SyncTask& task, const engine::ProgressSink& tell,
                std::stop_token stop) override {
    return act(task.parts > 1 ? "sync part of " + task.job : "sync", tell, std::move(stop));
  }
  Result<> warm_up(const engine::Selection& which, const engine::ProgressSink& tell,
                   std::stop_token stop) override {
    return act(
        "warm_up " + std::to_string(which.partition) + "/" + std::to_string(which.partitions), tell,
        std::move(stop));
  }
  Result<> clear(const engine::Selection&, const engine::ProgressSink& tell,
                 std::stop_token stop) override {
    return act("clear", tell, std::move(stop));
  }
  Result<> remove(const engine::Selection&, const engine::ProgressSink& tell,
                  std::stop_token stop) override {
    return act("remove", tell, std::move(stop));
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

  void hold() EXCLUDES(mutex_) {
    Lock lock(mutex_);
    held_ = true;
  }
  void be_deaf() EXCLUDES(mutex_) {  // until let go, to being stopped
    Lock lock(mutex_);
    deaf_ = true;
  }
  void let_go(Result<> outcome = Done{}) EXCLUDES(mutex_) {
    Lock lock(mutex_);
    held_ = deaf_ = false;
    outcome_ = std::move(outcome);
    changed_.notify_all();
  }
  std::vector<std::string> calls() const EXCLUDES(mutex_) {
    Lock lock(mutex_);
    return calls_;
  }

 private:
  Result<> act(const std::string& what, const engine::ProgressSink& tell, std::stop_token stop)
      EXCLUDES(mutex_) {
    tell({.files_total = 2, .files_done = 1});
    Lock lock(mutex_);
    calls_.push_back(what);
    while (held_) {
      if (stop.stop_requested() && !deaf_) return Error{Code::kCancelled, "stopped"};
      changed_.wait(mutex_, deaf_ ? std::stop_token() : stop);
    }
    return outcome_;
  }

  mutable Mutex mutex_;
  CondVar changed_;
  bool held_ GUARDED_BY(mutex_) = false;
  bool deaf_ GUARDED_BY(mutex_) = false;
  Result<> outcome_ GUARDED_BY(mutex_) = Done{};
  std::vector<std::string> calls_ GUARDED_BY(mutex_);
};

}  // namespace paddle::runtime
