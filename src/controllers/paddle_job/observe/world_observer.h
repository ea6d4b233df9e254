// SPDX-License-Identifier: Apache-2.0
//
// Where the reconciler sees: the informers of everything a job owns or rests on, gathered into a
// World. Kinds that most jobs do without are watched from the first job on that needs them.
// Thread-safe.

#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "api/paddle_job.h"
#include "controllers/loop/lazy_informer.h"
#include "controllers/loop/manager.h"
#include "controllers/paddle_job/actions.h"
#include "controllers/paddle_job/config.h"
#include "controllers/paddle_job/observe/reconcile_cache.h"
#include "controllers/paddle_job/world.h"
#include "kube/informer/store.h"

namespace paddle::controllers::paddle_job {

class WorldObserver {
 public:
  // Connects what it sees to the queue.
  WorldObserver(const ControllerContext& context, const std::string& ns, const Config& config);

  std::shared_ptr<const api::PaddleJob> find(const api::ObjectKey& key) const {
    return jobs_.find(key);
  }
  // Nothing while an informer that this job needs has only just begun.
  Result<std::optional<World>> observe(const api::PaddleJob& job, JobCache& cache,
                                       const kube::Call& call);

  // Straight from the server: the job as it is (acknowledged to the view) and its pods.
  Result<api::PaddleJob> confirm(const api::PaddleJob& job, World& world, const kube::Call& call);
  Result<> read_node_leases(const std::set<std::string>& names, World& world,
                            const kube::Call& call);

  // What the server answered to a write of ours.
  void acknowledge(OwnedKind kind, const api::Json& object) const;
  void acknowledge_job(const api::Json& object) const { jobs_.acknowledge(object); }

 private:
  template <typename T>
  static Result<bool> ensure_started(LazyInformer<T>& store, World& world, const kube::Call& call);
  Result<bool> observe_data(const api::PaddleJob& job, World& world, const kube::Call& call);
  Result<bool> observe_pod_group(const api::PaddleJob& job, World& world, const kube::Call& call);

  kube::Cluster& cluster_;
  const Config config_;
  kube::Store<api::PaddleJob> jobs_;
  kube::Store<api::Pod> pods_;
  kube::Store<ServiceSummary> services_;
  kube::Store<PeerConfigMap> maps_;
  kube::Store<api::SampleSet> sets_;
  LazyInformer<PodGroupSummary> groups_;
  LazyInformer<placement::NodeSummary> nodes_;
  LazyInformer<placement::ClaimSummary> claims_;
};

const kube::Resource& resource_of(OwnedKind kind);

}  // namespace paddle::controllers::paddle_job
