// SPDX-License-Identifier: Apache-2.0
//
// When a refused request is worth sending again, and after what pause. Pure policy; the transport
// (kube/client/transport.h) does the waiting.
//
// Only the server can ask for another attempt: 429 always does (the request was not processed), 503
// when it says how long to wait. Reads are also repeated after any other 5xx that says so. A write
// is never repeated when the server may have carried it out.

#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "base/sync.h"

namespace paddle::kube {

struct Refusal {
  int attempt = 1;  // the first one is 1
  int status = 0;
  std::optional<std::chrono::milliseconds> retry_after{};
  bool read_only = false;
  std::chrono::milliseconds left{};  // until the call's deadline
  double random = 0;                 // [0, 1)
};

inline constexpr int kMaxAttempts = 10;

// Nothing: give up. At least what the server asked for, and up to a quarter more, so that those who
// were refused together do not come back together.
std::optional<std::chrono::milliseconds> pause_before_retry(const Refusal& refusal);

// How long a 429 holds back later calls for the same resource.
std::chrono::milliseconds throttle_pause(
    const std::optional<std::chrono::milliseconds>& retry_after);

// After a 429 new calls for the same resource wait as well: the server is busy with that flow, and
// more requests would only be refused. One gate per resource, so that a throttled list of pods does
// not hold up the renewal of a lease. There is no other limit on our rate. Thread-safe.
class ThrottleGate {
 public:
  ThrottleGate(const Clock& clock, Random& random) : clock_(clock), random_(random) {}

  void close(const std::string& resource, std::chrono::milliseconds pause) EXCLUDES(mutex_);
  // How long a call that wants to start now has to wait; zero when the way is free.
  std::chrono::milliseconds wait_for(const std::string& resource) EXCLUDES(mutex_);

 private:
  const Clock& clock_;
  Random& random_;
  Mutex mutex_;
  std::map<std::string, BootTime> closed_until_ GUARDED_BY(mutex_);
};

}  // namespace paddle::kube
