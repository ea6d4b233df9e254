// SPDX-License-Identifier: Apache-2.0
//
// What the API server has refused of the writes for each set, and when to try it again. A write
// that has been refused is not repeated before its time, but another one in its place is: a spec
// that is corrected takes effect at once. What is not asked for any more is forgotten. Holds
// credentials: never printed. Thread-safe; lost with the process, which then tries everything.

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

// Asks something of the API server, other than to store a status.
bool is_write(const Action& action);

class RejectedWrites {
 public:
  // The server's words, when it has refused this and is not to be asked again yet.
  std::optional<std::string> waits(const api::Meta& set, const Action& action, BootTime now) const
      EXCLUDES(mutex_);
  void add(const api::Meta& set, const Action& action, const std::string& words, BootTime now)
      EXCLUDES(mutex_);
  // `refused`: all that was refused, or waited, in the pass that has ended.
  void keep_only(const api::Meta& set, const std::vector<Action>& refused) EXCLUDES(mutex_);
  // How long until the first of them is due.
  std::optional<std::chrono::nanoseconds> next(const api::Meta& set, BootTime now) const
      EXCLUDES(mutex_);
  void forget(const api::ObjectKey& set) EXCLUDES(mutex_);

 private:
  struct Refused {
    Action action{};
    std::string words{};
    int times = 0;
    BootTime due{};
  };
  using OfOne = std::vector<Refused>;
  const OfOne* find(const api::Meta& set) const REQUIRES(mutex_);

  mutable Mutex mutex_;
  // By name and uid: what is left of a set ends while another of its name lives.
  std::map<api::ObjectKey, std::map<std::string, OfOne>> sets_ GUARDED_BY(mutex_);
};

}  // namespace paddle::controllers::sample_set
