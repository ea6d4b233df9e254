// SPDX-License-Identifier: Apache-2.0
//
// The thread-safe workqueue: QueueState behind one lock, with blocking and metrics. Workers take()
// a key, process it without a lock, and return it with exactly one of finished(), again(), failed()
// or abandoned(). Adding never waits for a pass.
//
// A closed queue hands out no keys; keys that are added meanwhile wait for open().

#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/sync.h"
#include "controllers/loop/queue_state.h"

namespace paddle::controllers {

class WorkQueue {
 public:
  WorkQueue(const std::string& controller, QueueLimits limits, const Clock& clock, Random& random,
            Metrics& metrics);

  void add(const ObjectKey& key) EXCLUDES(mutex_);
  void add_after(const ObjectKey& key, std::chrono::nanoseconds pause) EXCLUDES(mutex_);

  // Waits for a key, also while the queue is closed. Nothing once `stop` is requested.
  std::optional<QueueState::Taken> take(std::stop_token stop) EXCLUDES(mutex_);

  void finished(const ObjectKey& key) EXCLUDES(mutex_);
  void again(const ObjectKey& key, std::chrono::nanoseconds pause) EXCLUDES(mutex_);
  std::chrono::nanoseconds failed(const ObjectKey& key, std::chrono::nanoseconds at_least = {})
      EXCLUDES(mutex_);
  void abandoned(const ObjectKey& key) EXCLUDES(mutex_);

  void open() EXCLUDES(mutex_);
  void close() EXCLUDES(mutex_);
  // Waits until no key is in progress; false when `limit` passed first. Call close() first.
  bool wait_idle(std::chrono::nanoseconds limit) EXCLUDES(mutex_);

  size_t depth() const EXCLUDES(mutex_);
  size_t running() const EXCLUDES(mutex_);
  std::chrono::nanoseconds longest_running() const EXCLUDES(mutex_);  // 0: no key is in progress
  // Call it before a scrape: updates the age of the longest running pass.
  void refresh_metrics() EXCLUDES(mutex_);

 private:
  void publish_depth() REQUIRES(mutex_);

  const Clock& clock_;
  Random& random_;
  // Self-synchronised.
  prometheus::Gauge& depth_;
  prometheus::Gauge& delayed_;
  prometheus::Counter& adds_;
  prometheus::Counter& retries_;
  prometheus::Gauge& longest_running_;
  prometheus::Histogram& wait_seconds_;
  CondVar work_;
  CondVar idle_;

  mutable Mutex mutex_;
  QueueState state_ GUARDED_BY(mutex_);
  bool open_ GUARDED_BY(mutex_) = true;
};

}  // namespace paddle::controllers
