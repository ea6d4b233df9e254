// SPDX-License-Identifier: Apache-2.0
//
// What `python -m paddle.distributed.launch` (Paddle >= 2.3) needs to be told beyond the contract's
// environment, as seen with 3.0.0. Pure.
//
//   intranet: Service, without parameter servers: the launcher whose own address is that of the
//   first endpoint serves the others, and it compares addresses, not names. So worker 0, and only
//   it, gets its own address instead of its name there; with the name nobody serves and all wait
//   for ever. Not where addresses are those of IPv6, which the launcher can not read.
//
//   intranet: Host: the launcher takes free ports for its own use wherever it finds them;
//   PORT_RANGE keeps it within the job's block, between the first port and gloo's.

#pragma once

#include "api/json/json.h"
#include "api/paddle_job.h"
#include "controllers/paddle_job/spec/replica_group.h"

namespace paddle::controllers::paddle_job {

// Appends to the training container's list `env`.
void add_launcher_env(api::Json& env, const api::PaddleJob& job, const ReplicaGroup& group,
                      int index, bool ipv6 = false);

}  // namespace paddle::controllers::paddle_job
