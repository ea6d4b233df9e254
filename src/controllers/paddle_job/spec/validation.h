// SPDX-License-Identifier: Apache-2.0
//
// Errors and warnings about a spec. The CRD rejects most errors at once; an object that is older
// than a rule, or was created through the v1beta1 definition, gets a condition instead. Pure.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/paddle_job.h"
#include "controllers/paddle_job/config.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers::paddle_job {

// No object is created for the job until its spec is changed. A job beside the operator whose pods
// name the service account of a manager is an error: they would have its rights.
std::optional<BlockReason> spec_error(const api::PaddleJob& job, const Config& config);

// The list of the job's pods would not fit into an environment variable, and no program would
// start.
std::optional<BlockReason> peer_list_error(const api::PaddleJob& job, const Config& config);

// Workers would get no samples: sampleSetRef names only containers that they do not have. Checked
// before the first pods; existing pods may read the samples in their own way.
std::optional<BlockReason> mount_error(const api::PaddleJob& job);

// Accepted, but probably a mistake. `began_without_etcd`: only the next run will be elastic.
std::vector<std::string> spec_warnings(const api::PaddleJob& job, const Config& config,
                                       bool began_without_etcd = false);

}  // namespace paddle::controllers::paddle_job
