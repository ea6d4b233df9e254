// SPDX-License-Identifier: Apache-2.0
//
// Prevents writes of a leader that was paused or cut off after its lease has expired.
//
// Fence is a deadline on the boot-time clock, which continues while the process is stopped. Only
// the elector moves it; any thread may read it at any time without a lock.
//
// FencedCluster is the Cluster that a leader's reconcilers write through. Reads pass. A write is
// refused with kCancelled after the lease has expired. The fence is checked three times: before the
// call, by the transport immediately before each attempt is sent (Call::may_send), and by the
// call's timeout, which never exceeds the lease. What remains is a pause between the last check and
// the system call that sends: a few instructions. Such a late write has a precondition or a
// deterministic name, so it is harmless.

#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "base/clock.h"
#include "base/metrics.h"
#include "kube/cluster.h"

namespace paddle::kube {

class Fence {
 public:
  bool open(BootTime now) const { return remaining(now) > std::chrono::nanoseconds{0}; }
  std::chrono::nanoseconds remaining(BootTime now) const {
    return BootTime{std::chrono::nanoseconds{until_ns_.load()}} - now;
  }

  void open_until(BootTime until) { until_ns_ = until.time_since_epoch().count(); }
  void close() { until_ns_ = 0; }

 private:
  std::atomic<std::int64_t> until_ns_{0};
};

class FencedCluster final : public Cluster {
 public:
  // Borrows its arguments; `name` labels the counter of refused writes.
  FencedCluster(Cluster& cluster, const Fence& fence, const Clock& clock, const std::string& name,
                Metrics& metrics);

  Result<Json> get(const Resource& resource, const ObjectKey& key, const Call& call = {}) override;
  Result<std::string> list(const Resource& resource, const ListOptions& options,
                           const ItemSink& sink, const Call& call = {}) override;
  Result<> watch(const Resource& resource, const WatchOptions& options, const EventSink& sink,
                 const Call& call = {}) override;
  Result<Json> get_sub(const Resource& resource, const ObjectKey& key, const std::string& sub,
                       const Call& call = {}) override;

  Result<Json> create(const Resource& resource, const Json& object, const Call& call = {}) override;
  Result<Json> update(const Resource& resource, const Json& object, const std::string& sub = {},
                      const Call& call = {}) override;
  Result<Json> patch(const Resource& resource, const ObjectKey& key, const Patch& patch,
                     const std::string& sub = {}, const Call& call = {}) override;
  Result<> remove(const Resource& resource, const ObjectKey& key, const DeleteOptions& options = {},
                  const Call& call = {}) override;

 private:
  template <typename T, typename Write>
  Result<T> guarded(const Call& call, const Write& write);

  Cluster& cluster_;
  const Fence& fence_;
  const Clock& clock_;
  prometheus::Counter& refused_;
};

}  // namespace paddle::kube
