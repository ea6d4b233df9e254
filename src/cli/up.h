// SPDX-License-Identifier: Apache-2.0
//
// `up`: starts the local cluster in the background and returns when it is ready. Succeeds if it is
// running already. With --foreground it runs until it receives SIGTERM or SIGINT.

#pragma once

#include "cli/session.h"

namespace CLI {
class App;
}

namespace paddle::cli {

struct Up {
  CommonFlags flags{};
  bool foreground = false;
  bool demo = false;             // run the tutorial when it is ready
  bool no_sealed_views = false;  // pods read sample sets through FUSE only
  int port = 0;                  // of the API server; 0: as at the last start, else any
  int report_fd = -1;            // for the startup reports of the background process (daemon.h)
  bool operator==(const Up&) const = default;
};

Result<> run(const Up& verb, const CommandContext& context);

// Runs until SIGTERM or SIGINT. Call it before the process has a second thread.
Result<> run_in_foreground(const Up& verb);

}  // namespace paddle::cli
