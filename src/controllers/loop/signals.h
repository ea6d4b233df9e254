// SPDX-License-Identifier: Apache-2.0
//
// SIGTERM and SIGINT as a stop_token: the first one asks for an orderly end, the second one ends
// the process at once. Make one at the top of main(), before any thread: threads inherit the
// blocked signals, so that only this one's thread sees them.

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
