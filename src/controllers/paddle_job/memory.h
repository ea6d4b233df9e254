// SPDX-License-Identifier: Apache-2.0
//
// What the reconciler remembers of a job between passes. Nothing here is needed for correctness: a
// restarted operator begins without it and only repeats a request or two, or takes a pod for lost
// that has succeeded and gone in the moment before.

#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "api/core/meta.h"
#include "base/clock.h"
#include "base/sync.h"
#include "controllers/paddle_job/successes.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers {

struct JobMemory {
  std::set<std::string> deleted{};      // uids of pods that we deleted and that are still shown
  std::set<std::string> removed{};      // uids of pods that are gone for sure, though still shown
  std::optional<BootTime> looked_at{};  // when the last pass began
  std::optional<BootTime> unsaid_since{};  // the status has something to say that can wait
  bool in_etcd = false;                    // etcd may hold keys of this job
  std::string etcd_cleaned_for{};          // uid of the job before whose pods etcd was cleaned
  std::optional<BlockReason>
      in_the_way{};          // what the last actions met, when its code says too little
  Successes noticed{};       // by the last pass, stored or not
  std::string noticed_of{};  // uid of the job whose they are
};

// A job's memory belongs to the pass that works on it: the queue gives a key to one pass at a time.
class JobMemories {
 public:
  JobMemory& of(const api::ObjectKey& key) {
    Lock lock(mutex_);
    return memories_[key];
  }
  // What was remembered.
  JobMemory forget(const api::ObjectKey& key) {
    Lock lock(mutex_);
    const auto found = memories_.extract(key);
    return found ? found.mapped() : JobMemory{};
  }

 private:
  Mutex mutex_;
  std::map<api::ObjectKey, JobMemory> memories_ GUARDED_BY(mutex_);
};

}  // namespace paddle::controllers
