// SPDX-License-Identifier: Apache-2.0
//
// Observes what decisions about SampleJobs are based on: jobs, sets and pods of runtimes from
// informers, and what the runtimes report on one job. Changes of these objects put the affected
// jobs into the queue. Thread-safe.
//
// A set has a key in the queue, too: for the check for orphaned jobs (execute/orphaned_jobs.h).

#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "base/sync.h"
#include "controllers/loop/manager.h"
#include "controllers/loop/status_writes.h"
#include "controllers/runtime_poller/runtime_poller.h"
#include "controllers/runtime_poller/runtime_requests.h"
#include "controllers/sample_job/observe/orphan_checks.h"
#include "controllers/sample_job/observe/runtime_credentials_cache.h"
#include "controllers/sample_job/world.h"
#include "engine/manifests.h"
#include "kube/informer/store.h"

namespace paddle::controllers::sample_job {

struct Options;  // reconciler.h

// A runtime that runs.
struct RuntimeEndpoint {
  int partition = 0;
  std::string node{};
  std::string address{};
  std::string uid{};  // of its pod
};

class WorldObserver {
 public:
  // Connects the informers to the queue. Borrows what the context has.
  WorldObserver(const ControllerContext& context, const Options& options, const Clock& clock);

  std::shared_ptr<const api::SampleJob> find(const api::ObjectKey& key) const {
    return jobs_.find(key);
  }
  std::shared_ptr<const api::SampleSet> find_set(const api::ObjectKey& key) const {
    return sets_.find(key);
  }
  // `rejected` replaces the reports of these partitions. Absent while a runtime has not answered
  // yet: the key is woken when it has. Waits for no runtime.
  Result<std::optional<World>> observe(const api::SampleJob& job, const RejectedRequests& rejected,
                                       const kube::Call& call);

  // The runtimes of the set that run, by partition.
  std::vector<RuntimeEndpoint> endpoints(const api::SampleSet& set) const;
  // Absent: the set has no Secret for its runtimes yet.
  Result<std::optional<runtime::RuntimeCredentials>> credentials(const api::SampleSet& set,
                                                                 const kube::Call& call);
  // Sends a job to the runtime of a partition, or cancels it when there is no request. Absent: not
  // known yet, and the key is woken. kNotFound: the runtime does not run, or there are no
  // credentials for it. A job that was deleted before its request arrived is found by a check for
  // orphaned jobs.
  std::optional<Result<>> send(const api::SampleJob& job, const api::SampleSet& set, int partition,
                               const std::string& id, std::optional<runtime::JobRequest> request,
                               const kube::Call& call);
  // The same for a job without an owner; the key of the check is woken.
  std::optional<Result<>> cancel_orphan(const api::SampleSet& set, const RuntimeEndpoint& endpoint,
                                        const runtime::RuntimeCredentials& credentials,
                                        const std::string& id);
  // Whether the outcome of cancel_orphan() is still to come; the key of the check is woken by it.
  bool is_cancelling(const api::SampleSet& set, const RuntimeEndpoint& endpoint,
                     const std::string& id) const;
  // Whether cancel_orphan() has ended this job since the last check; true once.
  bool was_cancelled(const api::SampleSet& set, const RuntimeEndpoint& endpoint,
                     const std::string& id);

  // What one runtime has; absent: it has not answered yet, and the key of the check is woken.
  struct RuntimeJobs {
    RuntimeEndpoint endpoint{};
    std::optional<Result<std::vector<runtime::JobReport>>> jobs{};
  };
  std::vector<RuntimeJobs> all_jobs(const api::SampleSet& set,
                                    const runtime::RuntimeCredentials& credentials);

  // Present while the runtimes of a set may have orphaned jobs: after the start of this process,
  // and after each deletion of a job.
  std::optional<OrphanChecks::Request> pending_orphan_check(const api::ObjectKey& set)
      EXCLUDES(mutex_);
  void orphan_check_done(const api::ObjectKey& set, OrphanChecks::Request answered)
      EXCLUDES(mutex_);
  void request_orphan_check(const api::ObjectKey& set) EXCLUDES(mutex_);
  // The set that a key of the queue asks to check; absent: it is the key of a job.
  static std::optional<api::ObjectKey> orphan_check_target(const api::ObjectKey& key);

  // A write of ours: find() shows it from now on.
  void acknowledge(const api::Json& stored) const { jobs_.acknowledge(stored); }
  void status_written(const api::ObjectKey& job) { writes_.written(job, clock_.boot()); }
  void forget(const api::ObjectKey& job) EXCLUDES(mutex_);

 private:
  void subscribe(WorkQueue& queue, int sent_at_once);
  void forget_set(const api::ObjectKey& set) EXCLUDES(mutex_);
  const engine::ManifestBuilder* engine_of(const api::SampleSet& set) const;
  std::vector<Sibling> siblings_of(const api::SampleJob& job) const;
  // Absent while a runtime has not answered yet.
  std::optional<std::vector<PartitionReport>> runtime_reports(const api::SampleJob& job,
                                                              const api::SampleSet& set,
                                                              const RejectedRequests& rejected,
                                                              const kube::Call& call);
  std::optional<Result<>> send(const api::ObjectKey& owner, const api::SampleSet& set,
                               const RuntimeRequest& request, RuntimeRequests::Ended ended);
  bool waits_too_long(const api::ObjectKey& job) EXCLUDES(mutex_);

  kube::Cluster& cluster_;
  WorkQueue& queue_;
  const engine::ManifestBuilders engines_;
  const kube::Store<api::SampleJob> jobs_;
  const kube::Store<api::SampleSet> sets_;
  const kube::Store<api::Pod> pods_;

  const Clock& clock_;
  const std::chrono::nanoseconds poll_interval_;
  RuntimeCredentialsCache credentials_;
  StatusWrites writes_{};

  Mutex mutex_;
  OrphanChecks orphan_checks_ GUARDED_BY(mutex_);
  std::map<api::ObjectKey, BootTime> waiting_ GUARDED_BY(mutex_);  // for an answer, since when

  // Last: they wake keys of the queue, and the end of a request asks for another poll.
  RuntimePoller poller_;
  RuntimeRequests requests_;
};

}  // namespace paddle::controllers::sample_job
