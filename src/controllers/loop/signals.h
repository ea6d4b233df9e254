// SPDX-License-Identifier: Apache-2.0
//
// Turns SIGTERM and SIGINT into a stop_token: the first signal requests a graceful shutdown, the
// second ends the process at once. Create it at the top of main(), before any thread: threads
// inherit the blocked signals, so that only its own thread receives them.

#pragma once

#include <stop_token>
#include <thread>

#include "base/unique_fd.h"

namespace paddle::controllers {

class Signals {
 public:
  Signals();
  ~Signals();

  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_{};
  UniqueFd quit_;
  std::thread thread_;
};

}  // namespace paddle::controllers
