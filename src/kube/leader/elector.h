// SPDX-License-Identifier: Apache-2.0
//
// Stands for election on one Lease, for as long as it runs, in a thread of its own. Won:
// on_started, then a renewal every retry period. Lost (no renewal within the deadline, another
// holder, the lease deleted): the fence closes, on_stopped, and it stands again. The process need
// not exit.
//
// on_started must return soon (it starts workers); on_stopped must return only when nothing of this
// term runs any more: no pass ever crosses from one term into another. Both run on the elector's
// thread. resign() ends it: on_stopped if it led, then the lease is released with a precondition so
// that the next one starts at once; a release is not attempted when the fence is closed. Callers
// drain their work before resign(), while the lease is still being renewed.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/random.h"
#include "kube/cluster.h"
#include "kube/leader/election/election.h"
#include "kube/leader/fence.h"

namespace paddle::kube {

struct ElectorOptions {
  ObjectKey lease{};       // one per controller
  std::string identity{};  // of one living process: elector_identity(), or pod_identity.h
  LeaseTiming timing{};
};

struct TermCallbacks {
  std::function<void()> on_started{};
  std::function<void()> on_stopped{};
};

class Elector {
 public:
  // Borrows cluster, clock and random. kInvalid for impossible timing or names.
  static Result<std::unique_ptr<Elector>> make(Cluster& cluster, ElectorOptions options,
                                               const Clock& clock, Random& random,
                                               Metrics& metrics);
  ~Elector();  // resigns

  const Fence& fence() const { return fence_; }
  Cluster& fenced() {
    return fenced_;
  }  // for the writes of the controller that this lease protects
  const std::string& identity() const { return options_.identity; }
  bool leading() const { return leading_; }

  void start(TermCallbacks callbacks);
  void resign();

 private:
  Elector(Cluster& cluster, ElectorOptions options, const Clock& clock, Random& random,
          Metrics& metrics);

  void run(std::stop_token stop, const TermCallbacks& callbacks);
  Result<LeaseDecision> read_lease(std::stop_token stop);
  bool acquire(std::stop_token stop);  // until won (true) or stopped
  bool write_claim(LeaseAction action, std::stop_token stop);
  void keep_renewing(std::stop_token stop);  // until lost or stopped
  enum class Renewal { kGood, kTryAgain, kLost };
  Renewal renew(BootTime give_up, std::stop_token stop);
  void release();
  void renewed(BootTime started, Json stored);

  Cluster& cluster_;
  const ElectorOptions options_;
  const Clock& clock_;
  Random& random_;
  Fence fence_{};
  FencedCluster fenced_;
  prometheus::Gauge& leading_gauge_;
  prometheus::Counter& terms_;
  prometheus::Counter& renewals_;
  prometheus::Counter& failed_renewals_;
  std::atomic<bool> leading_{false};

  // Only touched by the thread.
  std::optional<ObservedLease> seen_{};
  std::unique_ptr<Json> object_;  // as last received; null when it has to be read again
  BootTime last_renewal_{};

  std::jthread thread_;
};

// "host_0123456789abcdef"
std::string elector_identity(Random& random);

}  // namespace paddle::kube
