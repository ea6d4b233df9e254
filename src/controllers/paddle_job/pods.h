// SPDX-License-Identifier: Apache-2.0
//
// The pod of one rank: the user's template with what Paddle and the operator need added. Pure.
//
// Of the template only these are touched: metadata (name, labels, one annotation, owner), the first
// container's env, envFrom and mounts, volumes, restartPolicy when absent, and one init container
// `coord-paddle` from the job's own image, put first. It waits until the operator writes the
// release annotation, which happens when every pod has an address and the ConfigMap with the peers
// exists: so no container ever waits in CreateContainerConfigError.

#pragma once

#include "api/json.h"
#include "api/paddle_job.h"
#include "controllers/paddle_job/names.h"

namespace paddle::controllers {

api::Json pod_for(const api::PaddleJob& job, RoleKind kind, int index);

// What the release annotation says for a pod with this address.
std::string release_value(const api::PaddleJob& job, const std::string& address);

api::OwnerReference owner_reference(const api::PaddleJob& job);

}  // namespace paddle::controllers
