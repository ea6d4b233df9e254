// SPDX-License-Identifier: Apache-2.0
//
// Runs the program juicefs to its end (os/subprocess.h). Its standard output and its log are one
// text, of which the end is kept. When `stop` is requested, it is terminated, and killed soon after
// if it does not end; it never outlives the calling thread.

#pragma once

#include <functional>
#include <stop_token>
#include <string_view>

#include "base/result.h"
#include "engine/juicefs/node/command/sync_command.h"
#include "os/subprocess.h"

namespace paddle::engine::juicefs {

struct ProcessOptions {
  bool background = false;  // low CPU priority and idle I/O priority
  std::function<void(std::string_view piece)> on_output{};  // as os::Command has them
  std::function<bool()> may_run{};
};

// Any exit code is a result; its output is in `out`. kCancelled: `stop` was requested.
Result<os::CompletedProcess> run_juicefs(const CommandLine& command, std::stop_token stop,
                                         const ProcessOptions& options = {});

}  // namespace paddle::engine::juicefs
