// SPDX-License-Identifier: Apache-2.0
//
// The command line of `paddlectl` as a value: a verb and its options. Parsing is pure: no output,
// no exit, no file access. Each verb's file has its parser (add_...) and its handler (run).

#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "cli/apply.h"
#include "cli/delete.h"
#include "cli/describe.h"
#include "cli/down.h"
#include "cli/get.h"
#include "cli/kubeconfig.h"
#include "cli/logs.h"
#include "cli/status.h"
#include "cli/up.h"
#include "cli/wait.h"

namespace paddle::cli {

// Print this and exit with 0: --help and --version.
struct ShowText {
  std::string text{};
  bool operator==(const ShowText&) const = default;
};

using Command =
    std::variant<ShowText, Up, Down, Apply, Get, Describe, Logs, Delete, Wait, Kubeconfig, Status>;

// kInvalid with one sentence for an invalid command line.
Result<Command> parse_command(const std::vector<std::string>& args);

// Returns the exit code: 0 on success; 1 on failure, after one sentence with the reason. 2 is for
// invalid command lines.
int run_command(const Command& command, const CommandContext& context);

}  // namespace paddle::cli
