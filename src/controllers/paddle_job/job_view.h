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
#include "controllers/paddle_job/memory.h"
#include "controllers/paddle_job/setting.h"
#include "controllers/paddle_job/world.h"
#include "kube/informer/store.h"

namespace paddle::controllers {

class JobView {
 public:
  // Connects what it sees to the queue.
  JobView(const ControllerContext& around, const std::string& ns, const Setting& setting);

  std::shared_ptr<const api::PaddleJob> find(const api::ObjectKey& key) const {
    return jobs_.find(key);
  }
  // Nothing while an informer that this job needs has only just begun.
  Result<std::optional<World>> world_of(const api::PaddleJob& job, JobMemory& memory,
                                        const kube::Call& call);

  // Straight from the server: the job as it is (acknowledged to the view) and its pods.
  Result<api::PaddleJob> confirm(const api::PaddleJob& job, World& world, const kube::Call& call);
  Result<> ask_nodes(const std::set<std::string>& names, World& world, const kube::Call& call);

  // What the server answered to a write of ours.
  void acknowledge(Child child, const api::Json& object) const;
  void acknowledge_job(const api::Json& object) const { jobs_.acknowledge(object); }

 private:
  template <typename T>
  static Result<bool> begun(LazyInformer<T>& store, World& world, const kube::Call& call);
  Result<bool> see_data(const api::PaddleJob& job, World& world, const kube::Call& call);
  Result<bool> see_pod_group(const api::PaddleJob& job, World& world, const kube::Call& call);

  kube::Cluster& cluster_;
  const Setting setting_;
  kube::Store<api::PaddleJob> jobs_;
  kube::Store<api::Pod> pods_;
  kube::Store<ServiceSeen> services_;
  kube::Store<RendezvousMap> maps_;
  kube::Store<api::SampleSet> sets_;
  LazyInformer<PodGroupSeen> groups_;
  LazyInformer<NodeSeen> nodes_;
  LazyInformer<ClaimSeen> claims_;
};

const kube::Resource& resource_of(Child child);

}  // namespace paddle::controllers
