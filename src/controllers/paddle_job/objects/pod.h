// SPDX-License-Identifier: Apache-2.0
//
// The pod of one replica slot: the user's template with what Paddle and the operator need; and,
// with `intranet: Service`, its headless Service. Pure.
//
// Only these fields of the template change: metadata (name, our labels and annotations, owner);
// env, envFrom and ports of the training container; restartPolicy when absent; hostname and
// subdomain; the coordinator, as the last init container; and what the job requests: host network
// (spec/host_ports.h), gang (pod_group.h), samples (controllers/placement). The training container
// is the one named `paddle`, else the first.
//
// The coordinator is the init container `coord-paddle`, in which a pod waits for its peers: it
// reads a downward-API file of the pod's own release annotation until that is "<epoch>/<address of
// this pod>". An update of the pod refreshes the file at once. This needs no account, no DNS and no
// other image, only a shell in the job's own image (or in that of --initImage). A pod that returns
// with another address after a reboot of its node waits again.
//
// `python -m paddle.distributed.launch` (Paddle >= 2.3) needs two variables that are not part of
// the contract, as observed with 3.0.0:
//
//   intranet: Service, without parameter servers: the launcher whose own address is that of the
//   first endpoint serves the others, and it compares addresses, not names. So worker 0, and only
//   it, gets its own address there instead of its name; with the name, no launcher serves and all
//   wait for ever. Not with IPv6 addresses, which the launcher cannot parse.
//
//   intranet: Host: the launcher takes any free ports for its own use; PORT_RANGE keeps it within
//   the job's block, between the first port and that of gloo.

#pragma once

#include "api/json/json.h"
#include "api/paddle_job.h"
#include "controllers/paddle_job/config.h"
#include "controllers/paddle_job/spec/replica_group.h"
#include "controllers/placement/placement.h"

namespace paddle::controllers::paddle_job {

api::Json pod_for(const api::PaddleJob& job, const ReplicaGroup& group, int index,
                  const placement::DataSummary& data, const Config& config);

// The spec of the same pod with its final affinity, for the moment when the data gate is removed.
api::Json placed_spec(const api::PaddleJob& job, const ReplicaGroup& group, int index,
                      const placement::DataSummary& data, const Config& config);

// Appends the variables of the launcher to `env`, the list of the training container.
void add_launcher_env(api::Json& env, const api::PaddleJob& job, const ReplicaGroup& group,
                      int index, bool ipv6 = false);

// A headless Service with the pod's name and all ports of the job. It resolves as soon as the pod
// has an address, ready or not.
api::Json service_for(const api::PaddleJob& job, const ReplicaGroup& group, int index);

}  // namespace paddle::controllers::paddle_job
