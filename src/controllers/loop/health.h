// SPDX-License-Identifier: Apache-2.0
//
// The replies of /healthz and /readyz, in the format of Kubernetes components: "ok", or with
// ?verbose one line per check. Each has one check, named as in the Go operator: `health` and
// `check`, also served at /healthz/health and /readyz/check.

#pragma once

#include <chrono>

#include "net/server/http_server.h"

namespace paddle::controllers {

// A pass that takes longer does not end any more (requests have deadlines of 30 s): the process is
// to be restarted, which loses nothing, because passes can be repeated. Long enough for the
// thousands of requests of the largest job at a slow API server.
inline constexpr std::chrono::minutes kStuckAfter{30};

// `longest_pass`: how long the longest pass in progress has taken until now; 0: there is none.
bool is_alive(std::chrono::nanoseconds longest_pass);

struct HealthState {
  bool alive = true;   // no worker is stuck in a pass
  bool ready = false;  // informers have synced, and the process is not shutting down
};

net::ServerReply health_reply(const net::ServerRequest& ask, const HealthState& state);

}  // namespace paddle::controllers
