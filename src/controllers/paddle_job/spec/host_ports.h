// SPDX-License-Identifier: Apache-2.0
//
// The ports of a job; with `intranet: Host`, a block of ports of the nodes. Pure.
//
// A job on the host network has one block of 20 ports in --port-range, the same on every node. The
// block is stored in status.port before any pod is created, so that a restarted operator finds it.
// The search starts at a position given by the job's uid, so that two operators that see the same
// jobs choose the same block. It is free again when the job has ended. Blocks that Linux does not
// use for outgoing connections (32768-60999 by default) are chosen first: a connection, even one
// that was closed a minute ago, prevents Paddle's servers from binding its port, and the other pods
// of the job then wait without an error.
//
// Different blocks for different jobs are an optimization. What keeps two pods off the same ports
// of a node is that every pod declares all 20 as host ports: the scheduler then never puts two
// workers of one job, or any other pod with one of these ports, on the same node.

#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "api/paddle_job.h"
#include "base/result.h"

namespace paddle::controllers::paddle_job {

struct PortRange {
  int first = 35000;
  int last = 65000;  // inclusive
  bool operator==(const PortRange&) const = default;
};

// First port of the block that the job has: status.port or, from the Go operator, the annotation
// `host-port`. 0: none yet.
int stored_port(const api::PaddleJob& job);

// The value that the annotation `host-port` has to get: the stored port, or 0 for a block that the
// job gives back because it has left the host network. Unset: the annotation stays as it is.
std::optional<int> host_port_annotation(const api::PaddleJob& job);

// First of the job's ports, in every intranet: in lists of peers, in PADDLE_PORT and in Services.
int port_of(const api::PaddleJob& job);

// First port of the block that other jobs must not get: that of a job on the host network which has
// not ended. 0: none.
int occupied_port(const api::PaddleJob& job);

// The blocks that these jobs occupy, by first port, except that of `self` (a uid).
std::set<int> ports_taken(const std::vector<std::shared_ptr<const api::PaddleJob>>& jobs,
                          const std::string& self);

// Whether the 20 ports from `block` on have one in common with those from an entry of `taken` on.
bool overlaps(int block, const std::set<int>& taken);

// The block for a new job; kUnavailable when all are taken. Each entry of `taken` occupies the 20
// ports that begin with it, whether it is aligned with the range or not.
Result<int> choose_ports(const std::string& uid, const PortRange& range,
                         const std::set<int>& taken);

// Sets hostNetwork and dnsPolicy ClusterFirstWithHostNet (the user's None and Default stay), and
// declares the block at the first container.
void add_host_network(api::Json& pod_spec, int first_port);

}  // namespace paddle::controllers::paddle_job
