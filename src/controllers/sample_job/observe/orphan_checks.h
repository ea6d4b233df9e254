// SPDX-License-Identifier: Apache-2.0
//
// Which SampleSets are to be checked for orphaned jobs (execute/orphaned_jobs.h): each one once
// after the start of this process, and again whenever a check is requested. A value without lock.
//
// A check takes several passes. One that ends counts for the request that it began with: when
// another was made meanwhile, what it saw may be older than that, and the set is checked again.

#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "api/core/meta.h"

namespace paddle::controllers::sample_job {

class OrphanChecks {
 public:
  using Request = std::uint64_t;

  void request(const api::ObjectKey& set) { requested_[set] = ++last_; }

  // The request that a check which begins now answers; absent: none is needed.
  std::optional<Request> pending(const api::ObjectKey& set) const {
    const auto requested = requested_.find(set);
    const Request latest = requested == requested_.end() ? 0 : requested->second;
    const auto done = done_.find(set);
    if (done != done_.end() && done->second >= latest) return std::nullopt;
    return latest;
  }

  void done(const api::ObjectKey& set, Request answered) { done_[set] = answered; }

  // The set was deleted.
  void forget(const api::ObjectKey& set) {
    requested_.erase(set);
    done_.erase(set);
  }

 private:
  Request last_ = 0;
  std::map<api::ObjectKey, Request> requested_{};
  std::map<api::ObjectKey, Request> done_{};
};

}  // namespace paddle::controllers::sample_job
