// SPDX-License-Identifier: Apache-2.0
//
// Runs one program to its end. It gets exactly the arguments and the environment that it is given:
// no shell, nothing of ours inherited but standard streams that lead to us. It is a process group
// of its own, ended when `stop` is asked for and killed by the kernel when we die.

#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"

namespace paddle::engine::juicefs {

struct ChildCommand {
  std::vector<std::string> argv{};  // argv[0] is a path; PATH is not searched
  std::vector<std::string> env{};   // "NAME=value", nothing is added
  bool background = false;          // whoever else wants the processor or a disk comes first
};

struct ChildResult {
  int exit_code = 0;     // 128 + signal when one ended it
  std::string output{};  // the end of its output and errors, at most kSaidLimit
};
inline constexpr std::size_t kOutputLimit = std::size_t{64} << 10;

// What it said since the last call; called on this thread, also when it says nothing, but not while
// it is held.
using ChildListener = std::function<void(std::string_view piece)>;
// Whether it may run now; asked often, on this thread. While it may not, all of it is held
// (SIGSTOP).
using ChildGate = std::function<bool()>;

// kCancelled after `stop`; kUnavailable when it can not be started. Any exit code is an answer.
Result<ChildResult> run_child(const ChildCommand& command, std::stop_token stop,
                              const ChildListener& listener = {}, const ChildGate& gate = {});

}  // namespace paddle::engine::juicefs
