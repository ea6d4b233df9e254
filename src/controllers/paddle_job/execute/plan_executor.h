// SPDX-License-Identifier: Apache-2.0
//
// Carries out what a plan says, and tells users about it in events. Each call may be repeated:
// AlreadyExists with our owner is success, gone is deleted. Thread-safe.

#pragma once

#include <string>
#include <vector>

#include "api/paddle_job.h"
#include "controllers/paddle_job/actions.h"
#include "controllers/paddle_job/observe/reconcile_cache.h"
#include "controllers/paddle_job/observe/world_observer.h"
#include "kube/cluster.h"
#include "kube/events/recorder.h"

namespace paddle::controllers::paddle_job {

class PlanExecutor {
 public:
  PlanExecutor(kube::Cluster& cluster, kube::EventRecorder& events, WorldObserver& view)
      : cluster_(cluster), events_(events), observer_(view) {}

  // All of it at once, as far as the server lets us. After a failure the rest is left for another
  // time, and memory.name_conflict says what was met, if the error's code does not.
  Result<> execute(const Wave& wave, const api::PaddleJob& job, JobCache& cache,
                   const kube::Call& call);

  // Refused (kConflict) when the job has changed since it was seen.
  Result<> set_status(const api::PaddleJobStatus& status, const api::PaddleJob& job,
                      const kube::Call& call);

  void emit(const api::PaddleJob& job, kube::EventKind kind, const char* reason,
            std::string message);

 private:
  struct ActionResult;  // what became of one action
  Result<> execute_action(const Action& action, const api::PaddleJob& job, ActionResult& result,
                          const kube::Call& call);
  Result<> create(const Create& a, const api::PaddleJob& job, ActionResult& result,
                  const kube::Call& call);
  Result<> adopt(const Create& a, const api::PaddleJob& job, ActionResult& result,
                 const kube::Call& call);
  Result<> remove(const Delete& a, ActionResult& result, const kube::Call& call);
  Result<> replace(const Replace& a, const kube::Call& call);
  Result<> release(const ReleasePod& a, const kube::Call& call);
  Result<> patch(const Patch& a, const kube::Call& call);
  Result<> drop_finalizer(const api::PaddleJob& job, const kube::Call& call);
  Result<> delete_job(const api::PaddleJob& job, const kube::Call& call);
  void emit_events(const std::vector<ActionResult>& results, const api::PaddleJob& job,
                   JobCache& cache);
  void emit_events(const api::PaddleJobStatus& status, const api::PaddleJob& job);
  void warn_about_ipv6(const Create& map, const api::PaddleJob& job);

  kube::Cluster& cluster_;
  kube::EventRecorder& events_;
  WorldObserver& observer_;
};

}  // namespace paddle::controllers::paddle_job
