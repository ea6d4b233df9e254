// SPDX-License-Identifier: Apache-2.0
//
// Where the reconciler sees: the informers of everything a set owns or rests on, gathered into a
// World together with what its runtimes answer. Kinds that only some engines need are watched from
// the first set on that has such an engine. Of Secrets only metadata is watched; what one holds is
// read when it has changed. Thread-safe.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/paddle_job.h"
#include "api/sample_set.h"
#include "controllers/loop/lazy_informer.h"
#include "controllers/loop/manager.h"
#include "controllers/sample_set/actions.h"
#include "controllers/sample_set/observe/projections.h"
#include "controllers/sample_set/observe/reconcile_cache.h"
#include "controllers/sample_set/options.h"
#include "kube/informer/store.h"

namespace paddle::controllers::sample_set {

class WorldObserver {
 public:
  // Connects what it sees to the queue.
  WorldObserver(const ControllerContext& around, const Options& options, const Clock& clock);

  std::shared_ptr<const api::SampleSet> find(const api::ObjectKey& key) const {
    return sets_.find(key);
  }
  // `set` may be a orphan (deletion.h). Nothing while an informer that it needs has just begun.
  Result<std::optional<World>> observe_world(const api::SampleSet& set, const kube::Call& call);
  // What is left of sets that had this key: a volume remembers each, or labels of nodes do.
  std::vector<api::SampleSet> orphans(const api::ObjectKey& key, const std::string& living) const;

  // How the set's runtimes are spoken to, as read last.
  std::optional<runtime::RuntimeCredentials> runtime_credentials(const api::SampleSet& set) const;
  void forget(const api::ObjectKey& set);

  // What the server answered to a write of ours.
  void acknowledge(OwnedKind kind, const api::Json& stored);
  void acknowledge_set(const api::Json& stored) const { sets_.acknowledge(stored); }
  void acknowledge_pod(const api::Json& stored) const { pods_.acknowledge(stored); }
  void acknowledge_node(const api::Json& stored) const { nodes_.acknowledge(stored); }

 private:
  kube::Scope labelled() const;
  void add_indices();
  void listen(WorkQueue& queue);
  void observe_children(const api::SampleSet& set, World& world) const;
  void observe_users(const api::SampleSet& set, World& world) const;
  void observe_nodes(const api::SampleSet& set, World& world) const;
  Result<> observe_secrets(const api::SampleSet& set, World& world, const kube::Call& call);
  Result<std::optional<SecretContents>> read_secret(const api::ObjectKey& key,
                                                    const api::Meta& meta, const kube::Call& call);
  Result<bool> observe_late_kinds(const api::SampleSet& set, World& world, const kube::Call& call);
  void poll(const api::SampleSet& set, World& world, std::stop_token stop);

  kube::Cluster& cluster_;
  const Options options_;
  const Clock& clock_;
  ReconcileCache cache_{};
  kube::Store<api::SampleSet> sets_;
  kube::Store<MetaSummary> secrets_;
  kube::Store<VolumeSummary> volumes_;
  kube::Store<VolumeSummary> claims_;
  kube::Store<MetaSummary> services_;
  kube::Store<StatefulSetSummary> runtimes_;
  kube::Store<api::Pod> pods_;
  kube::Store<NodeSummary> nodes_;
  kube::Store<api::PaddleJob> jobs_;
  LazyInformer<MetaSummary> policies_;
  LazyInformer<MetaSummary> drivers_;
  LazyInformer<CsiNodeSummary> csi_nodes_;
};

const kube::Resource& resource_of(OwnedKind kind);

}  // namespace paddle::controllers::sample_set
