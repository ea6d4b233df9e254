// SPDX-License-Identifier: Apache-2.0
//
// Where the reconciler of SampleJobs sees: jobs, sets and runtimes' pods from informers, gathered
// into a World together with what the runtimes answer about one job. Thread-safe.
//
// Keys in the queue: a job's own, and "set/<name>" for a set whose runtimes may know jobs that are
// gone.

#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "base/sync.h"
#include "controllers/loop/manager.h"
#include "controllers/sample_job/observe/runtime_credentials_cache.h"
#include "controllers/sample_job/options.h"
#include "controllers/sample_job/world.h"
#include "kube/informer/store.h"
#include "runtime/runtime_client.h"

namespace paddle::controllers::sample_job {

inline constexpr const char* kSetKey = "set/";

api::ObjectKey set_key_of(const api::SampleJob& job);

// A runtime that may be asked.
struct RuntimeEndpoint {
  int partition = 0;
  std::string node{};
  std::string address{};
};

class WorldObserver {
 public:
  WorldObserver(const ControllerContext& context, const Options& options);

  std::shared_ptr<const api::SampleJob> find(const api::ObjectKey& key) const {
    return jobs_.find(key);
  }
  std::shared_ptr<const api::SampleSet> set_of(const api::ObjectKey& key) const {
    return sets_.find(key);
  }
  Result<World> world_of(const api::SampleJob& job, const kube::Call& call);

  std::vector<RuntimeEndpoint> endpoints(const api::SampleSet& set) const;
  // By what the set's runtimes are spoken to; nothing: it has no Secret for that yet.
  Result<std::optional<runtime::RuntimeCredentials>> access_to(const api::SampleSet& set,
                                                               const kube::Call& call);
  // A runtime that sits there (access.h).
  std::unique_ptr<runtime::RuntimeClient> runtime_at(const RuntimeEndpoint& endpoint,
                                                     const api::SampleSet& set,
                                                     const runtime::RuntimeCredentials& access) {
    return access_.runtime(set.meta.key, endpoint.address, access);
  }
  // What the job's own Secret holds, for a sync whose set does not have it already.
  Result<engine::SourceKeys> keys_for(const api::SampleJob& job, const api::SampleSet& set,
                                      const kube::Call& call);

  // Whether the runtimes of a set may know jobs that are gone: after a start, and after a deletion.
  bool needs_sweep(const api::ObjectKey& set);
  void swept(const api::ObjectKey& set);
  void sweep_again(const api::ObjectKey& set);

  void acknowledge(const api::Json& stored) const { jobs_.acknowledge(stored); }

 private:
  const engine::ManifestBuilder* engine_of(const api::SampleSet& set) const;
  void listen(WorkQueue& queue);
  std::vector<Sibling> siblings_of(const api::SampleJob& job) const;
  std::vector<PartitionReport> ask(const api::SampleJob& job, const api::SampleSet& set,
                                   const kube::Call& call);

  kube::Cluster& cluster_;
  WorkQueue& queue_;
  const Options options_;
  kube::Store<api::SampleJob> jobs_;
  kube::Store<api::SampleSet> sets_;
  kube::Store<api::Pod> pods_;

  RuntimeCredentialsCache access_;

  Mutex mutex_;
  std::set<api::ObjectKey> swept_ GUARDED_BY(mutex_);
};

}  // namespace paddle::controllers::sample_job
