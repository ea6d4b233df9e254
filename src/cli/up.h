// SPDX-License-Identifier: Apache-2.0
//
// `up`: starts the local cluster in the background and returns when it can be used. One that runs
// already is a success. In the foreground it runs until it is told to stop.

#pragma once

#include "cli/session.h"

namespace CLI {
class App;
}

namespace paddle::cli {

struct Up {
  CommonFlags flags{};
  bool foreground = false;
  int port = 0;        // of the API server; 0: the kernel chooses
  int report_fd = -1;  // where the background process tells how its start goes (daemon.h)
  bool operator==(const Up&) const = default;
};

Result<> run(const Up& verb, const CommandContext& context);

// Until SIGTERM or SIGINT. Called before the process has a second thread.
Result<> run_in_foreground(const Up& verb);

}  // namespace paddle::cli
