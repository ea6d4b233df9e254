// SPDX-License-Identifier: Apache-2.0
//
// Reads the World of a SampleSet: from informers of everything that a set owns or depends on, and
// from what its runtimes answered last. Waits for no runtime. Kinds that only some engines need are
// watched once a set has such an engine. Secrets are not watched: those that a set names are read
// again after a time (config.h). Thread-safe.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/sample_set.h"
#include "controllers/loop/lazy_informer.h"
#include "controllers/loop/manager.h"
#include "controllers/loop/status_writes.h"
#include "controllers/runtime_poller/runtime_poller.h"
#include "controllers/runtime_poller/runtime_requests.h"
#include "controllers/sample_set/config.h"
#include "controllers/sample_set/observe/projections.h"
#include "controllers/sample_set/observe/reconcile_cache.h"
#include "controllers/sample_set/world.h"
#include "kube/informer/store.h"
#include "runtime/runtime_polls.h"
#include "runtime/runtime_sends.h"

namespace paddle::controllers::sample_set {

class WorldObserver {
 public:
  // Connects the informers to the queue. `ns` empty: all namespaces.
  WorldObserver(const ControllerContext& context, const std::string& ns, const Config& config,
                runtime::RuntimePolls polls, runtime::RuntimeSends sends, const Clock& clock);

  std::shared_ptr<const api::SampleSet> find(const api::ObjectKey& key) const {
    return sets_.find(key);
  }
  // `set` may be an orphan (decide/deletion.h). Absent while an informer that it needs starts, or a
  // runtime has not answered yet.
  Result<std::optional<World>> observe(const api::SampleSet& set, const kube::Call& call);
  // Deleted sets with this key of which a volume or node labels are left. `living_uid`: that of the
  // set that has the key now; empty: none.
  std::vector<api::SampleSet> orphans(const api::ObjectKey& key,
                                      const std::string& living_uid) const;

  // Sends a job to the runtime of a partition, or cancels it when there is no request; the key of
  // the set is woken when it has answered. Absent: the runtime does not run any more.
  std::optional<RuntimeRequests::Sent> send(const api::SampleSet& set, const World& world,
                                            int partition, const std::string& id,
                                            std::optional<runtime::JobRequest> request);
  void forget(const api::ObjectKey& set);

  // Lays the server's answer to one of our writes over what is known.
  void acknowledge(OwnedKind kind, const api::Json& stored);
  void removed(OwnedKind kind, const api::ObjectKey& key);
  void acknowledge_set(const api::Json& stored) const { sets_.acknowledge(stored); }
  void status_written(const api::ObjectKey& set) { writes_.written(set, clock_.boot()); }
  void acknowledge_pod(const api::Json& stored) const { pods_.acknowledge(stored); }
  void acknowledge_node(const api::Json& stored) const { nodes_.acknowledge(stored); }

 private:
  kube::Scope labelled() const;
  void add_indices();
  void watch(WorkQueue& queue);
  void observe_owned(const api::SampleSet& set, World& world) const;
  void observe_users(const api::SampleSet& set, World& world) const;
  void observe_nodes(const api::SampleSet& set, World& world) const;
  Result<> observe_secrets(const api::SampleSet& set, World& world, const kube::Call& call);
  Result<std::optional<SecretContents>> read_secret(const api::SampleSet& set,
                                                    const api::ObjectKey& key,
                                                    const kube::Call& call);
  std::int64_t cache_of_others(const api::SampleSet& set) const;
  Result<bool> observe_lazy_kinds(const api::SampleSet& set, World& world, const kube::Call& call);
  Result<> observe_missing_runtimes(const api::SampleSet& set, World& world,
                                    const kube::Call& call);
  // For calls to the set's runtimes, as their Secret was read last.
  std::optional<runtime::RuntimeCredentials> runtime_credentials(const api::SampleSet& set) const;
  // False: a runtime has not answered yet to what is asked now.
  bool observe_runtimes(const api::SampleSet& set, World& world);

  kube::Cluster& cluster_;
  const std::string ns_;
  const Config config_;
  const Clock& clock_;
  ReconcileCache cache_{};
  StatusWrites writes_{};
  kube::Store<api::SampleSet> sets_;
  kube::Store<VolumeSummary> volumes_;
  kube::Store<VolumeSummary> claims_;
  kube::Store<MetaSummary> services_;
  kube::Store<StatefulSetSummary> runtimes_;
  kube::Store<api::Pod> pods_;
  kube::Store<NodeSummary> nodes_;
  kube::Store<JobSummary> jobs_;
  LazyInformer<MetaSummary> policies_;
  LazyInformer<MetaSummary> drivers_;
  LazyInformer<CsiNodeSummary> csi_nodes_;
  // Last: they wake keys of the queue, and the end of a request asks for another poll.
  RuntimePoller poller_;
  RuntimeRequests requests_;
};

}  // namespace paddle::controllers::sample_set
