// SPDX-License-Identifier: Apache-2.0
//
// `logs POD` or `logs KIND/NAME`: what containers wrote; of several pods, each line with the pod's
// name before it. With -f it goes on until the containers end.

#pragma once

#include <string>

#include "cli/session.h"

namespace CLI {
class App;
}

namespace paddle::cli {

struct Logs {
  CommonFlags flags{};
  std::string target{};
  std::string container{};
  bool follow = false;
  bool previous = false;
  int tail = -1;  // lines; -1: all
  bool operator==(const Logs&) const = default;
};

Result<> run(const Logs& verb, const CommandContext& context);

}  // namespace paddle::cli
