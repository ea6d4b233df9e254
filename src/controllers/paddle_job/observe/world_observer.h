// SPDX-License-Identifier: Apache-2.0
//
// Reads what the plan for a job rests on: the informers of all objects that a job owns or depends
// on, gathered into a World, and the answers to the plan's queries. Kinds that most jobs do not
// need are watched from the first job on that needs them. Thread-safe.

#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/paddle_job.h"
#include "controllers/loop/lazy_informer.h"
#include "controllers/loop/manager.h"
#include "controllers/paddle_job/actions.h"
#include "controllers/paddle_job/config.h"
#include "controllers/paddle_job/observe/port_reservations.h"
#include "controllers/paddle_job/observe/reconcile_cache.h"
#include "controllers/paddle_job/world.h"
#include "etcd/store.h"
#include "kube/informer/store.h"

namespace paddle::controllers::paddle_job {

using JobPtr = std::shared_ptr<const api::PaddleJob>;

// The ConfigMap with the defaults of a namespace.
struct DefaultsMap {
  api::Meta meta{};
  api::Opaque pod_template{};  // absent: none
  std::string error{};         // why it cannot be read
};

class WorldObserver {
 public:
  // Connects the informers to the queue. Borrows pacing and clock; `etcd` may be null.
  WorldObserver(const ControllerContext& context, const std::string& ns, const Config& config,
                std::shared_ptr<etcd::Store> etcd, const PassPacing& pacing, const Clock& clock);

  // With the defaults of its namespace in its templates.
  JobPtr find(const api::ObjectKey& key) const { return with_defaults(jobs_.find(key)); }

  // Unset while an informer that this job needs has only just started.
  Result<std::optional<World>> observe(const api::PaddleJob& job, Pass& pass);

  // Adds the answers to `world`. Returns the job to plan for: the same, or as the API server stores
  // it now when the pods were to be confirmed; null: it no longer exists. An etcd that does not
  // respond is no error here: the pass continues without it.
  Result<JobPtr> answer(const std::vector<Query>& queries, const JobPtr& job, World& world,
                        Pass& pass);

  // Before a plan that chooses host ports is executed: no other job gets them from now on. False
  // when they are no longer free.
  bool reserve_ports(const api::PaddleJob& job, const Plan& plan);
  void release_ports(const api::ObjectKey& job) { reservations_.release(job); }

  // Another elastic job that has not ended has the same id: the keys in etcd may be its keys.
  bool shares_elastic_id(const api::ObjectKey& job) const;

  // What the API server returned for a write of ours.
  void acknowledge(OwnedKind kind, const api::Json& object) const;
  void acknowledge_job(const api::Json& object) const { jobs_.acknowledge(object); }

 private:
  template <typename T>
  static Result<bool> ensure_started(LazyInformer<T>& informer, World& world,
                                     const kube::Call& call);
  JobPtr with_defaults(JobPtr job) const;
  void observe_pods(const api::PaddleJob& job, JobCache& cache, World& world) const;
  void observe_ports(const api::PaddleJob& job, World& world);
  void observe_elastic(const api::PaddleJob& job, Pass& pass, World& world) const;
  Result<bool> observe_data(const api::PaddleJob& job, World& world, const kube::Call& call);
  Result<bool> observe_pod_group(const api::PaddleJob& job, World& world, const kube::Call& call);

  Result<JobPtr> confirm_pods(const api::PaddleJob& job, World& world, const kube::Call& call);
  Result<> read_node_leases(const std::vector<std::string>& nodes, World& world,
                            const kube::Call& call);
  void read_replicas(const api::PaddleJob& job, World& world, Pass& pass);

  kube::Cluster& cluster_;
  const Config config_;
  const std::shared_ptr<etcd::Store> etcd_;
  const PassPacing& pacing_;
  const Clock& clock_;
  PortReservations reservations_;
  kube::Store<api::PaddleJob> jobs_;
  kube::Store<api::Pod> pods_;
  kube::Store<ServiceSummary> services_;
  kube::Store<PeerConfigMap> maps_;
  kube::Store<DefaultsMap> defaults_;
  kube::Store<api::SampleSet> sets_;
  LazyInformer<PodGroupSummary> groups_;
  LazyInformer<placement::NodeSummary> nodes_;
  LazyInformer<placement::ClaimSummary> claims_;
};

const kube::Resource& resource_of(OwnedKind kind);

}  // namespace paddle::controllers::paddle_job
