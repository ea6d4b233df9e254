// SPDX-License-Identifier: Apache-2.0
//
// The pod on one seat: the user's template with what Paddle and the operator need added. Pure.
//
// Of the template only these are touched: metadata (name, labels, annotations of ours, owner); the
// training container's env, envFrom and ports; restartPolicy when absent; hostname and subdomain;
// the coordinator (coordinator.h) at the end of the init containers; and what the job asks for:
// host network (host_ports.h), gang (pod_group.h), samples (controllers/placement).
//
// The training container is the one called `paddle`, else the first.

#pragma once

#include "api/json/json.h"
#include "api/paddle_job.h"
#include "controllers/paddle_job/config.h"
#include "controllers/paddle_job/spec/replica_group.h"
#include "controllers/placement/placement.h"

namespace paddle::controllers::paddle_job {

api::Json pod_for(const api::PaddleJob& job, const ReplicaGroup& group, int index,
                  const placement::DataSummary& data, const Config& config);

// The spec of the same pod with its affinity settled, for the moment when a gate is lifted.
api::Json placed_spec(const api::PaddleJob& job, const ReplicaGroup& group, int index,
                      const placement::DataSummary& data, const Config& config);

}  // namespace paddle::controllers::paddle_job
