// SPDX-License-Identifier: Apache-2.0
//
// Observes what decisions about SampleJobs are based on: jobs, sets and pods of runtimes from
// informers, and what the runtimes report on one job. Changes of these objects put the affected
// jobs into the queue. Thread-safe.
//
// A set has a key in the queue, too: for the check for orphaned jobs (execute/orphaned_jobs.h).

#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "base/sync.h"
#include "controllers/loop/manager.h"
#include "controllers/sample_job/observe/runtime_credentials_cache.h"
#include "controllers/sample_job/world.h"
#include "engine/manifests.h"
#include "kube/informer/store.h"
#include "runtime/runtime_client.h"

namespace paddle::controllers::sample_job {

struct Options;  // reconciler.h

// A runtime that runs.
struct RuntimeEndpoint {
  int partition = 0;
  std::string node{};
  std::string address{};
};

class WorldObserver {
 public:
  // Connects the informers to the queue. Borrows what the context has.
  WorldObserver(const ControllerContext& context, const Options& options);

  std::shared_ptr<const api::SampleJob> find(const api::ObjectKey& key) const {
    return jobs_.find(key);
  }
  std::shared_ptr<const api::SampleSet> find_set(const api::ObjectKey& key) const {
    return sets_.find(key);
  }
  // `rejected` replaces the reports of these partitions.
  Result<World> observe(const api::SampleJob& job, const RejectedRequests& rejected,
                        const kube::Call& call);

  // The runtimes of the set that run, by partition.
  std::vector<RuntimeEndpoint> endpoints(const api::SampleSet& set) const;
  // Absent: the set has no Secret for its runtimes yet.
  Result<std::optional<runtime::RuntimeCredentials>> credentials(const api::SampleSet& set,
                                                                 const kube::Call& call);
  std::unique_ptr<runtime::RuntimeClient> client(const api::SampleSet& set,
                                                 const RuntimeEndpoint& endpoint,
                                                 const runtime::RuntimeCredentials& credentials);
  // The same for one partition; null: its runtime does not run, or there are no credentials for it.
  std::unique_ptr<runtime::RuntimeClient> client(const api::SampleSet& set, int partition,
                                                 const kube::Call& call);

  // Whether the runtimes of a set may have orphaned jobs: after the start of this process, and
  // after each deletion of a job.
  bool needs_orphan_check(const api::ObjectKey& set) EXCLUDES(mutex_);
  void orphan_check_done(const api::ObjectKey& set) EXCLUDES(mutex_);
  void request_orphan_check(const api::ObjectKey& set) EXCLUDES(mutex_);
  // The set that a key of the queue asks to check; absent: it is the key of a job.
  static std::optional<api::ObjectKey> orphan_check_target(const api::ObjectKey& key);

  // A write of ours: find() shows it from now on.
  void acknowledge(const api::Json& stored) const { jobs_.acknowledge(stored); }

 private:
  void subscribe(WorkQueue& queue, int sent_at_once);
  const engine::ManifestBuilder* engine_of(const api::SampleSet& set) const;
  std::vector<Sibling> siblings_of(const api::SampleJob& job) const;
  std::vector<PartitionReport> query_runtimes(const api::SampleJob& job, const api::SampleSet& set,
                                              const kube::Call& call);

  kube::Cluster& cluster_;
  WorkQueue& queue_;
  const engine::ManifestBuilders engines_;
  const kube::Store<api::SampleJob> jobs_;
  const kube::Store<api::SampleSet> sets_;
  const kube::Store<api::Pod> pods_;

  RuntimeCredentialsCache credentials_;

  Mutex mutex_;
  std::set<api::ObjectKey> checked_for_orphans_ GUARDED_BY(mutex_);
};

}  // namespace paddle::controllers::sample_job
