// SPDX-License-Identifier: Apache-2.0
//
// `intranet: Host`: which ports of the nodes a job has. Pure.
//
// A job has one block of 20 ports in --port-range, the same on every node it comes to. The block is
// remembered in status.port before any pod is made, so a restarted operator finds it; the search
// starts at a place given by the job's uid, so that two operators that see the same jobs choose the
// same. It is free again when the job has ended. Blocks that Linux does not also use for outgoing
// connections (32768-60999 unless a node says otherwise) go first: a connection, even one closed a
// minute ago, keeps Paddle's servers off its port, and the job's others then wait without a word.
//
// That two jobs have different blocks is a courtesy; what keeps two pods off one node's ports is
// that every pod declares all 20 as host ports: the scheduler itself then never puts two workers of
// one job, or anybody else with one of these ports, on the same node.

#pragma once

#include <set>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "api/paddle_job.h"
#include "base/result.h"

namespace paddle::controllers::paddle_job {

bool on_host_network(const api::PaddleJobSpec& spec);

struct PortRange {
  int first = 35000;
  int last = 65000;  // inclusive
  bool operator==(const PortRange&) const = default;
};

// First port of the block the job has been given: status.port or, from the Go operator, the
// annotation `host-port`. 0: none yet.
int remembered_port(const api::PaddleJob& job);

// The blocks of jobs on the host network, by first port, but for `self` (a uid) and jobs that
// ended.
std::set<int> ports_taken(const std::vector<api::PaddleJob>& jobs, const std::string& self);

// The block for a new job; kUnavailable with a sentence when all are taken. A port of `taken`
// blocks 20 ports from it on, wherever it lies.
Result<int> choose_ports(const std::string& uid, const PortRange& range,
                         const std::set<int>& taken);

// hostNetwork, dnsPolicy ClusterFirstWithHostNet (the user's None and Default stay), and the block
// declared at the first container.
void use_host_network(api::Json& pod_spec, int first_port);

}  // namespace paddle::controllers::paddle_job
