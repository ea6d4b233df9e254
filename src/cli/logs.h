// SPDX-License-Identifier: Apache-2.0
//
// `logs POD` or `logs KIND/NAME`: prints the logs of containers; with several pods each line is
// prefixed with the pod's name. With -f it continues until the containers end.

#pragma once

#include <string>

#include "cli/session.h"

namespace CLI {
class App;
}

namespace paddle::cli {

struct Logs {
  CommonFlags flags{};
  std::string selector{};  // instead of a target: of all pods with these labels
  std::string target{};
  std::string container{};
  bool follow = false;
  bool previous = false;
  int tail = -1;  // lines; -1: all
  bool operator==(const Logs&) const = default;
};

Result<> run(const Logs& verb, const CommandContext& context);

}  // namespace paddle::cli
