// SPDX-License-Identifier: Apache-2.0
//
// What /healthz and /readyz answer, in the words of Kubernetes components: "ok", or with ?verbose
// one line per check. Each has one check, named as users of the Go operator know them: `health` and
// `check`; /healthz/health and /readyz/check ask for it alone. Pure.

#pragma once

#include "net/server/http_server.h"

namespace paddle::controllers {

struct HealthState {
  bool alive = true;
  bool ready = false;  // the informers have their first list, and we are not shutting down
};

net::ServerReply health_reply(const net::ServerRequest& ask, const HealthState& state);

}  // namespace paddle::controllers
