// SPDX-License-Identifier: Apache-2.0
//
// The writes for each SampleSet that the API server has rejected, and when to retry them. A
// rejected write is not repeated before its delay is over, but another one in its place is: a
// corrected spec takes effect at once. Writes that the plan no longer contains are forgotten. Holds
// credentials: never printed. Thread-safe; lost with the process, which then retries everything.

#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/core/meta.h"
#include "base/clock.h"
#include "base/sync.h"
#include "controllers/sample_set/actions.h"

namespace paddle::controllers::sample_set {

// A request to the API server.
bool is_write(const Action& action);

class RejectedWrites {
 public:
  // The server's error when it has rejected this action and the delay is not over.
  std::optional<std::string> waits(const api::Meta& set, const Action& action, BootTime now) const
      EXCLUDES(mutex_);
  void add(const api::Meta& set, const Action& action, const std::string& error, BootTime now)
      EXCLUDES(mutex_);
  // `rejected`: all that was rejected, or waited, in the pass that has ended.
  void keep_only(const api::Meta& set, const std::vector<Action>& rejected) EXCLUDES(mutex_);
  // Until the first of them is to be retried; absent: there is none.
  std::optional<std::chrono::nanoseconds> next(const api::Meta& set, BootTime now) const
      EXCLUDES(mutex_);
  void forget(const api::ObjectKey& set) EXCLUDES(mutex_);

 private:
  struct Rejected {
    Action action{};
    std::string error{};
    int times = 0;
    BootTime due{};
  };
  using OfOneSet = std::vector<Rejected>;
  const OfOneSet* find(const api::Meta& set) const REQUIRES(mutex_);

  mutable Mutex mutex_;
  // By name and uid: an orphan is deleted while another set has its name.
  std::map<api::ObjectKey, std::map<std::string, OfOneSet>> sets_ GUARDED_BY(mutex_);
};

}  // namespace paddle::controllers::sample_set
