// SPDX-License-Identifier: Apache-2.0
//
// Cancels orphaned jobs: those that a runtime still has although their SampleJob was deleted, while
// this operator ran or before it started. Thread-safe.

#pragma once

#include <string>
#include <vector>

#include "controllers/execute/object_writer.h"
#include "controllers/loop/manager.h"
#include "controllers/sample_job/observe/world_observer.h"

namespace paddle::controllers::sample_job {

class OrphanedJobs {
 public:
  // Borrows the observer and what the context has.
  OrphanedJobs(const ControllerContext& context, WorldObserver& observer)
      : cluster_(context.cluster), writer_(context.cluster, context.events), observer_(observer) {}

  // At all runtimes of a set, if the observer has not seen it checked. Again later when a runtime
  // could not be queried.
  Result<ReconcileResult> cancel(const api::ObjectKey& set, const kube::Call& call);

 private:
  // The prefixes of the ids of all SampleJobs in a namespace.
  Result<std::vector<std::string>> id_prefixes(const std::string& ns, const kube::Call& call);

  void report(const api::SampleSet& set, const RuntimeEndpoint& endpoint,
              const runtime::JobReport& job);

  kube::Cluster& cluster_;
  ObjectWriter writer_;
  WorldObserver& observer_;
};

}  // namespace paddle::controllers::sample_job
