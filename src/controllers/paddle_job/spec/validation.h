// SPDX-License-Identifier: Apache-2.0
//
// What in a spec can not work, in one sentence. The CRD refuses most of it at once; an object that
// is older than a rule, or came through the v1beta1 definition, is answered here with a condition.
// Pure.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/paddle_job.h"
#include "controllers/paddle_job/config.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers::paddle_job {

// Nothing is made for the job until its spec is changed.
std::optional<BlockReason> spec_error(const api::PaddleJob& job);

// Workers of the job would get no samples: sampleSetRef names only containers that they do not
// have. Before the first pods; those that are there may read them in a way of their own.
std::optional<BlockReason> mount_error(const api::PaddleJob& job);

// Accepted, but probably not meant. `began_without_etcd`: only its next run will be (plan.cc).
std::vector<std::string> spec_warnings(const api::PaddleJob& job, const Config& config,
                                       bool began_without_etcd = false);

}  // namespace paddle::controllers::paddle_job
