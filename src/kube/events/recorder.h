// SPDX-License-Identifier: Apache-2.0
//
// Records what happened to an object as core/v1 Events. event() never blocks on the network and
// never fails: an event that cannot be recorded is counted in paddle_events_total{result=...} and
// dropped. One background thread writes. Give it the fenced cluster of its controller, so that a
// paused leader does not write events. Thread-safe.

#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/sync.h"
#include "kube/cluster.h"
#include "kube/events/aggregation/event_aggregator.h"

namespace paddle::kube {

// The reference to an object, from its JSON; empty fields where it lacks them.
ObjectRef ref_of(const Json& object);

// The core/v1 Event to create for it.
Json event_object(const EventWrite& write, const std::string& component);

class EventRecorder {
 public:
  // Borrows the cluster, clock and metrics. `component` is what kubectl shows under "From".
  EventRecorder(Cluster& cluster, std::string component, const Clock& clock, Metrics& metrics,
                EventLimits limits = {});
  ~EventRecorder();  // drops what is not written yet; call flush() first to wait for it

  void event(const ObjectRef& about, EventKind kind, std::string reason, std::string message)
      EXCLUDES(mutex_);
  // Defers events for this long because other requests are more urgent, as far as the aggregator
  // permits it. Events have the time at which they happened.
  void give_way(std::chrono::nanoseconds pause) EXCLUDES(mutex_);
  // Waits until all events so far are written or dropped; false when `limit` passed first. Ends a
  // deferral.
  bool flush(std::chrono::nanoseconds limit) EXCLUDES(mutex_);

 private:
  void run(std::stop_token stop) EXCLUDES(mutex_);
  bool gives_way() const REQUIRES(mutex_);
  Result<> write(const EventWrite& write, std::stop_token stop);

  Cluster& cluster_;
  const std::string component_;
  const Clock& clock_;
  prometheus::Counter& written_;
  prometheus::Counter& merged_;
  prometheus::Counter& too_often_;
  prometheus::Counter& full_;
  prometheus::Counter& failed_;
  CondVar work_;
  CondVar idle_;

  Mutex mutex_;  // not held across a call to the cluster
  EventAggregator aggregator_ GUARDED_BY(mutex_);
  bool writing_ GUARDED_BY(mutex_) = false;
  BootTime others_first_until_ GUARDED_BY(mutex_) = BootTime::min();

  std::jthread thread_;
};

}  // namespace paddle::kube
