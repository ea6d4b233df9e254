// SPDX-License-Identifier: Apache-2.0
//
// The replies of /healthz and /readyz, in the format of Kubernetes components: "ok", or with
// ?verbose one line per check. Each has one check, named as in the Go operator: `health` and
// `check`, also served at /healthz/health and /readyz/check.

#pragma once

#include "net/server/http_server.h"

namespace paddle::controllers {

struct HealthState {
  bool alive = true;
  bool ready = false;  // informers have synced, and the process is not shutting down
};

net::ServerReply health_reply(const net::ServerRequest& ask, const HealthState& state);

}  // namespace paddle::controllers
