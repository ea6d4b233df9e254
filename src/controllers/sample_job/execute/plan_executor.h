// SPDX-License-Identifier: Apache-2.0
//
// Executes plans for SampleJobs: one action, one call to a runtime or to the API server. Actions
// are executed in order; the first failure ends the plan. Decides nothing. Thread-safe.
//
// A job that a runtime does not take is not such a failure: the runtimes of the other partitions
// get theirs, and the result says what has to follow. No call waits for a runtime: what is not
// answered yet ends the plan where later actions depend on it, and the plan of the pass that the
// answer wakes takes it up again.

#pragma once

#include "controllers/execute/object_writer.h"
#include "controllers/loop/manager.h"
#include "controllers/sample_job/observe/world_observer.h"
#include "controllers/sample_job/plan.h"

namespace paddle::controllers::sample_job {

struct ExecutionResult {
  bool status_written = false;
  bool job_unsent = false;  // a runtime could not be reached with a job: send it again
  bool waits = false;       // for the answer of a runtime: the key is woken
  RejectedRequests rejected{};
};

class PlanExecutor {
 public:
  // Borrows the observer and what the context has.
  PlanExecutor(const ControllerContext& context, WorldObserver& observer)
      : cluster_(context.cluster), writer_(context.cluster, context.events), observer_(observer) {}

  // `world`: the one that the plan was made for.
  Result<ExecutionResult> execute(const Plan& plan, const api::SampleJob& job, const World& world,
                                  const kube::Call& call);

 private:
  // One call of execute().
  struct Pass {
    api::SampleJob job;  // as it is stored now
    const World& world;
    const kube::Call& call;
    ExecutionResult result{};
    bool blocked = false;  // nothing but other cancellations may follow before an answer
  };

  Result<> execute(const Action& action, Pass& pass);
  Result<> put_job(const PutJob& action, Pass& pass);
  Result<> cancel_job(const CancelJob& action, Pass& pass);
  Result<> mark_sync_complete(const MarkSyncComplete& action, Pass& pass);
  Result<> create_run(const CreateRun& action, Pass& pass);
  Result<> remove_finalizer(const RemoveFinalizer& action, Pass& pass);
  Result<> emit(const EmitEvent& event, const Pass& pass);
  Result<> write_status(const api::SampleJobStatus& status, Pass& pass);

  // What the job's own Secret holds, for a source that is not the set's own. kNotFound: no Secret.
  Result<engine::SourceKeys> source_keys(const api::SampleJob& job, const api::SampleSet& set,
                                         const kube::Call& call);

  kube::Cluster& cluster_;
  ObjectWriter writer_;
  WorldObserver& observer_;
};

}  // namespace paddle::controllers::sample_job
