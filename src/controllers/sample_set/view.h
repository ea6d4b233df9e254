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
#include "controllers/sample_set/memory.h"
#include "controllers/sample_set/options.h"
#include "controllers/sample_set/seen.h"
#include "kube/informer/store.h"

namespace paddle::controllers::sample_sets {

class View {
 public:
  // Connects what it sees to the queue.
  View(const ControllerContext& around, const SampleSetOptions& options, const Clock& clock);

  std::shared_ptr<const api::SampleSet> find(const api::ObjectKey& key) const {
    return sets_.find(key);
  }
  // `set` may be a ghost (deletion.h). Nothing while an informer that it needs has just begun.
  Result<std::optional<World>> world_of(const api::SampleSet& set, const kube::Call& call);
  // What is left of sets that had this key: a volume remembers each, or labels of nodes do.
  std::vector<api::SampleSet> ghosts(const api::ObjectKey& key, const std::string& living) const;

  // How the set's runtimes are spoken to, as read last.
  std::optional<runtime::RuntimeCredentials> access_to(const api::SampleSet& set) const;
  void forget(const api::ObjectKey& set);

  // What the server answered to a write of ours.
  void acknowledge(ChildKind kind, const api::Json& stored);
  void acknowledge_set(const api::Json& stored) const { sets_.acknowledge(stored); }
  void acknowledge_pod(const api::Json& stored) const { pods_.acknowledge(stored); }
  void acknowledge_node(const api::Json& stored) const { nodes_.acknowledge(stored); }

 private:
  kube::Scope labelled() const;
  void add_indices();
  void listen(WorkQueue& queue);
  void see_children(const api::SampleSet& set, World& world) const;
  void see_users(const api::SampleSet& set, World& world) const;
  void see_nodes(const api::SampleSet& set, World& world) const;
  Result<> see_secrets(const api::SampleSet& set, World& world, const kube::Call& call);
  Result<std::optional<SecretText>> read_secret(const api::ObjectKey& key, const api::Meta& meta,
                                                const kube::Call& call);
  Result<bool> see_late_kinds(const api::SampleSet& set, World& world, const kube::Call& call);
  void ask_runtimes(const api::SampleSet& set, World& world, std::stop_token stop);

  kube::Cluster& cluster_;
  const SampleSetOptions options_;
  const Clock& clock_;
  Memory memory_{};
  kube::Store<api::SampleSet> sets_;
  kube::Store<MetaSeen> secrets_;
  kube::Store<VolumeSeen> volumes_;
  kube::Store<VolumeSeen> claims_;
  kube::Store<MetaSeen> services_;
  kube::Store<StatefulSetSeen> runtimes_;
  kube::Store<api::Pod> pods_;
  kube::Store<NodeSeen> nodes_;
  kube::Store<api::PaddleJob> jobs_;
  LazyInformer<MetaSeen> policies_;
  LazyInformer<MetaSeen> drivers_;
  LazyInformer<CsiNodeSeen> csi_nodes_;
};

const kube::Resource& resource_of(ChildKind kind);

}  // namespace paddle::controllers::sample_sets
