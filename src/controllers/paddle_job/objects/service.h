// SPDX-License-Identifier: Apache-2.0
//
// `intranet: Service`: a headless Service per pod, of the pod's name, over all ports of the job. It
// resolves from the moment the pod has an address, ready or not. Pure.

#pragma once

#include "api/json/json.h"
#include "api/paddle_job.h"
#include "controllers/paddle_job/spec/replica_group.h"

namespace paddle::controllers::paddle_job {

api::Json service_for(const api::PaddleJob& job, const ReplicaGroup& group, int index);

}  // namespace paddle::controllers::paddle_job
