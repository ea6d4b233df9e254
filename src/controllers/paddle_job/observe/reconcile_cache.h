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
#include "controllers/paddle_job/decide/completed_indexes.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers::paddle_job {

struct JobCache {
  std::set<std::string> deleted{};      // uids of pods that we deleted and that are still shown
  std::set<std::string> removed{};      // uids of pods that are gone for sure, though still shown
  std::optional<BootTime> last_pass{};  // when the last pass began
  std::optional<BootTime> status_pending_since{};  // the status has something to say that can wait
  bool has_etcd_keys = false;                      // etcd may hold keys of this job
  std::string etcd_cleaned_uid{};  // uid of the job before whose pods etcd was cleaned
  std::optional<BlockReason>
      name_conflict{};                // what the last actions met, when its code says too little
  CompletedIndexes last_completed{};  // by the last pass, stored or not
  std::string last_completed_uid{};   // uid of the job whose they are
};

// A job's memory belongs to the pass that works on it: the queue gives a key to one pass at a time.
class ReconcileCache {
 public:
  JobCache& of(const api::ObjectKey& key) {
    Lock lock(mutex_);
    return cache_[key];
  }
  // What was remembered.
  JobCache forget(const api::ObjectKey& key) {
    Lock lock(mutex_);
    const auto found = cache_.extract(key);
    return found ? found.mapped() : JobCache{};
  }

 private:
  Mutex mutex_;
  std::map<api::ObjectKey, JobCache> cache_ GUARDED_BY(mutex_);
};

}  // namespace paddle::controllers::paddle_job
