// SPDX-License-Identifier: Apache-2.0
//
// Runs one program to its end and brings back what it printed. No shell: argv is passed as it is.
// The child has /dev/null as input, none of our descriptors, default signals, and a process group
// of its own that is killed as a whole when it takes too long, prints too much or `stop` is asked
// for.

#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace paddle::os {

struct Command {
  std::vector<std::string> argv{};  // argv[0] is looked up in PATH unless it holds a slash
  std::vector<std::string> env{};   // NAME=value, the whole environment
  std::chrono::milliseconds timeout{60'000};
  size_t max_output = size_t{1} << 20;
};

struct Ran {
  int exit_code = 0;  // 128 + n when signal n ended it
  std::string out{};
  std::string err{};  // its last 4 KiB
};

// kNotFound when there is no such program, kDeadline, kCancelled, kInvalid for too much output.
Result<Ran> run_process(const Command& command, const Clock& clock, std::stop_token stop);

}  // namespace paddle::os
