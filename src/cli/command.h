// SPDX-License-Identifier: Apache-2.0
//
// The command line of `paddlectl` as a value: which verb, with what. Pure: no output, no exit, no
// file is touched. Each verb's own file says what it takes (add_...) and does it (run).

#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "cli/apply.h"
#include "cli/delete.h"
#include "cli/down.h"
#include "cli/get.h"
#include "cli/kubeconfig.h"
#include "cli/logs.h"
#include "cli/status.h"
#include "cli/up.h"
#include "cli/wait.h"

namespace paddle::cli {

// Print this and leave with 0: --help and --version.
struct ShowText {
  std::string text{};
  bool operator==(const ShowText&) const = default;
};

using Command =
    std::variant<ShowText, Up, Down, Apply, Get, Logs, Delete, Wait, Kubeconfig, Status>;

// kInvalid with one sentence for a wrong command line.
Result<Command> parse_command(const std::vector<std::string>& args);

// 0: done. 1: it failed, and one sentence has said why. 2 is for wrong command lines.
int run_command(const Command& command, const CommandContext& context);

}  // namespace paddle::cli
