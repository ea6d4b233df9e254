// SPDX-License-Identifier: Apache-2.0
//
// Executes the actions of a plan: one action, one request, one result; and emits the events about
// them. Every call may be repeated: an object that already exists and is ours counts as created,
// one that is gone as deleted. Thread-safe.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/paddle_job.h"
#include "controllers/execute/object_writer.h"
#include "controllers/paddle_job/actions.h"
#include "controllers/paddle_job/observe/reconcile_cache.h"
#include "controllers/paddle_job/observe/world_observer.h"
#include "etcd/store.h"
#include "kube/cluster.h"
#include "kube/events/recorder.h"

namespace paddle::controllers::paddle_job {

class PlanExecutor {
 public:
  // Borrows cluster, events and observer; `etcd` may be null.
  PlanExecutor(kube::Cluster& cluster, kube::EventRecorder& events,
               std::shared_ptr<etcd::Store> etcd, const WorldObserver& observer,
               std::size_t parallel_actions = kParallelActions)
      : cluster_(cluster),
        writer_(cluster, events),
        etcd_(std::move(etcd)),
        observer_(observer),
        parallel_actions_(parallel_actions) {}

  // The waves one after the other, the actions of a wave in parallel. After a failure no further
  // action starts, and pass.trouble has the reason if it is one that users have to know. A failed
  // request to etcd is recorded in `pass` and does not end the execution.
  Result<> execute(const Plan& plan, const api::PaddleJob& job, Pass& pass);

  // kConflict when the job has changed since it was read.
  Result<> write_status(const api::PaddleJobStatus& status, const api::PaddleJob& job, Pass& pass);

  // Removes the keys in etcd of a job that has ended or no longer exists; a failure is logged.
  void forget_elastic_state(const api::ObjectKey& job, JobCache& cache, std::stop_token stop);

 private:
  struct ActionResult;
  Result<> execute_wave(const Wave& wave, const api::PaddleJob& job, Pass& pass);
  Result<> execute_action(const Action& action, const api::PaddleJob& job, Pass& pass,
                          ActionResult& result);
  Result<> create(const Create& a, const api::PaddleJob& job, Pass& pass, ActionResult& result);
  Result<> adopt(const Create& a, const api::PaddleJob& job, Pass& pass, ActionResult& result);
  Result<api::Json> label(OwnedKind kind, api::Json found, const api::PaddleJob& job, Pass& pass);
  Result<> remove(const Delete& a, const api::PaddleJob& job, Pass& pass, ActionResult& result);
  Result<> replace(const Replace& a, Pass& pass);
  Result<> release(const ReleasePod& a, Pass& pass);
  Result<> patch(const Patch& a, Pass& pass);
  Result<bool> is_outdated(const Patch& a, Pass& pass);
  Result<> set_host_port(const SetHostPortAnnotation& a, const api::PaddleJob& job, Pass& pass);
  Result<> suspend_for_queue(const api::PaddleJob& job, Pass& pass);
  Result<> remove_finalizer(const api::PaddleJob& job, Pass& pass);
  Result<> delete_job(const api::PaddleJob& job, Pass& pass);
  void write_elastic_replicas(const WriteElasticReplicas& a, const api::PaddleJob& job, Pass& pass);
  void clean_elastic_state(const api::PaddleJob& job, Pass& pass);
  void record(const std::vector<ActionResult>& results, const api::PaddleJob& job, Pass& pass);
  void emit(const api::PaddleJob& job, const EmitEvent& event);

  kube::Cluster& cluster_;
  ObjectWriter writer_;
  const std::shared_ptr<etcd::Store> etcd_;
  const WorldObserver& observer_;
  const std::size_t parallel_actions_;
};

}  // namespace paddle::controllers::paddle_job
