// SPDX-License-Identifier: Apache-2.0
//
// When a refused request is sent again, and after which pause. Pure policy; the transport
// (kube/client/transport.h) waits.
//
// Only the server can request another attempt: 429 always does (the request was not processed), 503
// when it has a Retry-After. Reads are also repeated after any other 5xx with a Retry-After. A
// write is never repeated when the server may have executed it.

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
  int attempt = 1;  // counts from 1
  int status = 0;
  std::optional<std::chrono::milliseconds> retry_after{};
  bool read_only = false;
  std::chrono::milliseconds left{};  // until the call's deadline
  double random = 0;                 // [0, 1)
};

inline constexpr int kMaxAttempts = 10;

// Nullopt: give up. Otherwise at least the pause that the server requests, and up to a quarter
// more, so that clients that were refused together do not return together.
std::optional<std::chrono::milliseconds> pause_before_retry(const Refusal& refusal);

// How long a 429 delays later calls for the same resource.
std::chrono::milliseconds throttle_pause(
    const std::optional<std::chrono::milliseconds>& retry_after);

// After a 429, new calls for the same resource wait, too: the server is busy, and would refuse
// them. There is one gate per resource, so that a throttled list of pods does not delay the renewal
// of a lease. There is no other limit of our rate. Thread-safe.
class ThrottleGate {
 public:
  ThrottleGate(const Clock& clock, Random& random) : clock_(clock), random_(random) {}

  void close(const std::string& resource, std::chrono::milliseconds pause) EXCLUDES(mutex_);
  // How long a call that starts now has to wait; zero when the gate is open.
  std::chrono::milliseconds wait_for(const std::string& resource) EXCLUDES(mutex_);

 private:
  const Clock& clock_;
  Random& random_;
  Mutex mutex_;
  std::map<std::string, BootTime> closed_until_ GUARDED_BY(mutex_);
};

}  // namespace paddle::kube
