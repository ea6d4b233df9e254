// SPDX-License-Identifier: Apache-2.0
//
// Runs passes: N workers take keys from the queue, call the reconcile function, and return each key
// to the queue according to the outcome. An exception ends the pass, not the process (kPanicked).
// Outcomes are counted in paddle_reconcile_total{controller,outcome} and timed.
//
// Initially stopped; keys may be queued before start(). It can be stopped and started again (a lost
// and regained lease); the queue keeps its keys meanwhile. Thread-safe.

#pragma once

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/sync.h"
#include "controllers/loop/reconcile_result.h"
#include "controllers/loop/workqueue.h"

namespace paddle::controllers {

struct ControllerOptions {
  std::string name{};
  int workers = 1;
  QueueLimits limits{};
};

class Controller {
 public:
  // Borrows clock, random and metrics.
  Controller(ControllerOptions options, Reconcile reconcile, const Clock& clock, Random& random,
             Metrics& metrics);
  ~Controller();  // stop()

  const std::string& name() const { return options_.name; }
  WorkQueue& queue() { return queue_; }

  void start() EXCLUDES(mutex_);  // no effect when running, or after drain()
  // Requests passes in progress to end early and waits for them.
  void stop() EXCLUDES(mutex_);
  // Hands out no more keys and waits for passes in progress; false when `limit` passed first. For
  // the end of the process: start() has no effect afterwards.
  bool drain(std::chrono::nanoseconds limit) EXCLUDES(mutex_);
  // After drain() failed: requests the passes to end early; false when they did not within `limit`.
  bool cancel(std::chrono::nanoseconds limit) EXCLUDES(mutex_);

 private:
  void work(std::stop_token stop);
  void pass(const QueueState::Taken& taken, std::stop_token stop);
  PassOutcome give_back(const QueueState::Taken& taken, const Result<ReconcileResult>& result,
                        bool panicked, bool stopping);

  const ControllerOptions options_;
  const Reconcile reconcile_;
  const Clock& clock_;
  // Self-synchronised.
  std::array<prometheus::Counter*, 6> outcomes_{};
  prometheus::Histogram& seconds_;
  WorkQueue queue_;

  Mutex mutex_;  // taken before the queue's; held while workers are joined
  std::vector<std::jthread> workers_ GUARDED_BY(mutex_);
  bool drained_ GUARDED_BY(mutex_) = false;
};

}  // namespace paddle::controllers
