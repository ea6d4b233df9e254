// SPDX-License-Identifier: Apache-2.0
//
// Runs everything in one operator process: informers shared by its controllers, a lease per
// controller, health and metrics endpoints. Defines the order in which they start and end.
//
//   start   endpoints -> informers -> (first lists) -> elections -> workers
//   end     no new passes -> passes in progress finish -> events flushed -> leases released -> rest
//
// Leases are renewed while passes finish. An idle manager sends no requests except renewals of
// leases and watches. Losing a lease stops its controller, which then takes part in the election
// again.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/random.h"
#include "controllers/loop/controller.h"
#include "controllers/loop/health.h"
#include "kube/cluster.h"
#include "kube/events/recorder.h"
#include "kube/informer/informers.h"
#include "kube/leader/elector.h"
#include "net/server/http_server.h"

namespace paddle::controllers {

struct ManagerOptions {
  std::string metrics_address = ":8080";  // "0" or empty: none
  std::string health_address = ":8081";   // likewise
  bool leader_elect = false;
  std::string lease_namespace{};  // required with leader_elect
  kube::LeaseTiming lease{};
  std::string identity{};  // unique per process; empty: host name and a random part
  // At shutdown passes in progress may finish within this time; then they are cancelled.
  std::chrono::milliseconds drain_limit{8'000};
  std::chrono::milliseconds cancel_limit{1'000};
  kube::ReflectorPace pace{};
};

struct ControllerSpec {
  std::string name{};
  std::string lease{};  // empty: runs without an election
  int workers = 1;
  QueueLimits limits{};
};

// The dependencies of a controller; valid as long as the manager.
struct ControllerContext {
  kube::Cluster& cluster;  // fenced by the controller's lease when there is one
  kube::Informers& informers;
  kube::EventRecorder& events;
  WorkQueue& queue;
  Metrics& metrics;
};

class Manager {
 public:
  // Borrows all references. kInvalid for invalid options.
  static Result<std::unique_ptr<Manager>> make(kube::Cluster& cluster, ManagerOptions options,
                                               Metrics& metrics,
                                               const Clock& clock = system_clock(),
                                               Random& random = system_random());
  ~Manager();

  // Call it before run(). `build` connects sources to the queue and returns the reconcile function.
  Result<> add(ControllerSpec spec,
               const std::function<Reconcile(const ControllerContext&)>& build);

  // Runs until `stop`. kDeadline when passes did not end even when cancelled: their threads still
  // run, so the process should exit with std::_Exit; their leases are not released but expire.
  Result<> run(std::stop_token stop);

  // The bound addresses, once run() listens.
  std::optional<net::Address> metrics_address() const;
  std::optional<net::Address> health_address() const;
  bool ready() const { return ready_; }
  bool alive() const;  // no worker is stuck in a pass (health.h)

 private:
  struct ManagedController;
  Manager(kube::Cluster& cluster, ManagerOptions options, Metrics& metrics, const Clock& clock,
          Random& random);

  Result<> listen();
  net::ServerReply metrics_reply(const net::ServerRequest& ask);
  void begin();
  Result<> end();

  kube::Cluster& cluster_;
  const ManagerOptions options_;
  Metrics& metrics_;
  const Clock& clock_;
  Random& random_;
  std::atomic<bool> ready_{false};
  std::atomic<bool> listening_{false};

  // Destroyed in reverse: the endpoints, then the informers, whose handlers use the queues.
  std::vector<std::unique_ptr<ManagedController>> controllers_;
  kube::Informers informers_;
  std::unique_ptr<net::HttpServer> metrics_server_;
  std::unique_ptr<net::HttpServer> health_server_;
};

}  // namespace paddle::controllers
