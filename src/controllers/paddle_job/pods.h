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
#include "controllers/paddle_job/parts.h"
#include "controllers/paddle_job/setting.h"
#include "controllers/placement/placement.h"

namespace paddle::controllers {

api::Json pod_for(const api::PaddleJob& job, const Part& part, int index, const DataSeen& data,
                  const Setting& setting);

// The spec of the same pod with its affinity settled, for the moment when a gate is lifted.
api::Json placed_spec(const api::PaddleJob& job, const Part& part, int index, const DataSeen& data,
                      const Setting& setting);

}  // namespace paddle::controllers
