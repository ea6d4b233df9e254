// SPDX-License-Identifier: Apache-2.0
//
// Takes part in the election on one Lease, in a thread of its own. When it becomes the leader it
// calls on_started, then renews the lease every retry period. When it loses the lease (no renewal
// within the deadline, another holder, the lease deleted) it closes the fence, calls on_stopped,
// and tries again. The process need not exit.
//
// on_started must return soon (it starts workers); on_stopped must return only when nothing of this
// term runs any more: no pass crosses from one term into another. Both run on the elector's thread.
// resign() ends the election: on_stopped if it was the leader, then the lease is released with a
// precondition so that the next leader starts immediately; it is not released when the fence is
// closed. Callers drain their work before resign(), while the lease is still renewed.

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
  std::string identity{};  // unique among running processes: elector_identity(), or pod_identity.h
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
  // For the writes of the controller that this lease protects.
  Cluster& fenced() { return fenced_; }
  const std::string& identity() const { return options_.identity; }
  bool leading() const { return leading_; }

  void start(TermCallbacks callbacks);
  void resign();

 private:
  Elector(Cluster& cluster, ElectorOptions options, const Clock& clock, Random& random,
          Metrics& metrics);

  void run(std::stop_token stop, const TermCallbacks& callbacks);
  Result<LeaseDecision> read_lease(std::stop_token stop);
  bool acquire(std::stop_token stop);  // until acquired (true) or stopped
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

  // Used only by the thread.
  std::optional<ObservedLease> seen_{};
  std::unique_ptr<Json> object_;  // as last received; null: it has to be read again
  BootTime last_renewal_{};

  std::jthread thread_;
};

// "host_0123456789abcdef"
std::string elector_identity(Random& random);

}  // namespace paddle::kube
