// SPDX-License-Identifier: Apache-2.0
//
// What the reconciler keeps between passes: a cache per job (JobCache), and the pace of all passes
// (PassPacing). Nothing here is needed for correctness: a restarted operator begins without it, and
// at most repeats a request, or takes a pod for lost that has just succeeded and was deleted.

#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "api/core/meta.h"
#include "api/paddle_job.h"
#include "base/clock.h"
#include "base/sync.h"
#include "controllers/loop/workqueue.h"
#include "controllers/paddle_job/actions.h"
#include "controllers/paddle_job/decide/pods/completed_indexes.h"
#include "controllers/paddle_job/world.h"
#include "controllers/plan/plan.h"
#include "kube/cluster.h"
#include "kube/events/recorder.h"

namespace paddle::controllers::paddle_job {

struct JobCache {
  std::set<std::string> deleted{};  // uids of pods that we have deleted and informers still show
  std::set<std::string> removed{};  // uids of pods that no longer exist, though informers show them
  std::optional<BootTime> last_pass{};             // when the last pass began
  std::optional<BootTime> status_pending_since{};  // since when the write of the status is delayed

  // What the last plan found, stored or not, and the uid of the job that it is about.
  CompletedIndexes last_completed{};
  std::string last_completed_uid{};

  // Elastic jobs. A uid tells which job of this name is meant.
  bool has_etcd_keys = false;      // etcd may have keys of this job
  std::string etcd_cleaned_uid{};  // keys of an earlier job have been removed
  std::string etcd_in_use_uid{};   // the job has not ended, or its keys have not been removed since

  void keep_completed(const api::PaddleJob& job, const Plan& plan);
};

// One pass over a job. Its rounds of planning and executing share what they have learned.
struct Pass {
  JobCache& cache;
  kube::Call call{};
  std::optional<BlockReason> trouble{};  // why an action failed; the next plan reports it
  std::optional<Error> etcd_error{};     // the result of the pass, so that the queue backs off
  std::optional<StoredReplicas> elastic_replicas{};  // as read or written in this pass
  bool etcd_cleaned = false;                         // in this pass
  // What the plan after a rejected action waits for.
  std::optional<std::chrono::nanoseconds> requeue_after{};

  void fail_etcd(Error error);
};

// Thread-safe. The cache of a job is used by one pass at a time: the queue never hands out a key
// twice.
class ReconcileCache {
 public:
  JobCache& of(const api::ObjectKey& key) EXCLUDES(mutex_);
  JobCache forget(const api::ObjectKey& key) EXCLUDES(mutex_);  // returns what was cached

 private:
  Mutex mutex_;
  std::map<api::ObjectKey, JobCache> jobs_ GUARDED_BY(mutex_);
};

// Thread-safe. Borrows all references.
class PassPacing {
 public:
  PassPacing(const WorkQueue& queue, kube::EventRecorder& events, const Clock& clock)
      : queue_(queue), events_(events), clock_(clock) {}

  // Begins a pass. Returns a pause instead when it is too early: every pod of a big job
  // changes several times while it starts, and with a pause per pod the passes over such a job cost
  // about as much as those over a small one.
  std::optional<std::chrono::nanoseconds> begin(const api::PaddleJob& job, JobCache& cache);

  // Many jobs are queued, or were a moment ago: creating pods goes before reporting progress, and
  // events wait.
  bool busy() const { return clock_.boot() < busy_until_.load(); }

 private:
  const WorkQueue& queue_;
  kube::EventRecorder& events_;
  const Clock& clock_;
  std::atomic<BootTime> busy_until_{BootTime::min()};
};

}  // namespace paddle::controllers::paddle_job
