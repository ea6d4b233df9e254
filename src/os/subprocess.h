// SPDX-License-Identifier: Apache-2.0
//
// Runs one program to its end and returns its exit code and what it printed. There is no shell:
// argv is passed as it is.
//
// The program gets exactly the environment it is given, /dev/null as standard input, none of our
// other descriptors, default signals, and a process group of its own. The whole group is killed
// when the program exceeds its time or its output, when `stop` is requested, and when this
// function fails. It returns when the program itself has ended, even if a process that it started
// still holds its output open.
//
// Callbacks run on the calling thread. Any exit code is a result; an Error means
//
//   kNotFound   there is no such program           kDeadline    it exceeded Command::timeout
//   kInvalid    it cannot be executed, or it       kCancelled   `stop` was requested
//               printed more than max_output       kInternal    the system refused a resource

#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace paddle::os {

struct Command {
  std::vector<std::string> argv{};  // argv[0] is looked up in our PATH unless it contains a slash
  std::vector<std::string> env{};   // "NAME=value", the whole environment

  std::optional<std::chrono::milliseconds> timeout{};  // none: no limit
  // Between SIGTERM and SIGKILL after `stop`; zero: SIGKILL at once.
  std::chrono::milliseconds termination_grace{0};

  size_t max_output = size_t{1} << 20;
  bool keep_only_end = false;  // beyond max_output the beginning is dropped; it is no error
  bool merge_errors = false;   // standard error goes to standard output, in the order of printing

  bool background = false;      // low CPU priority and idle I/O priority
  bool dies_with_us = false;    // killed by the kernel when the calling thread ends
  bool kill_leftovers = false;  // at its end, processes that it started and left are killed

  // Receives each piece of output as it arrives, and an empty piece about every 50 ms while there
  // is none and the program is not stopped by may_run.
  std::function<void(std::string_view piece)> on_output{};
  // Called about every 50 ms; while it returns false, the whole group is stopped (SIGSTOP). The
  // timeout keeps running.
  std::function<bool()> may_run{};
};

struct CompletedProcess {
  int exit_code = 0;  // 128 + n when signal n ended it
  std::string out{};
  std::string err{};  // its last 4 KiB; empty when merged
};

Result<CompletedProcess> run_subprocess(const Command& command, const Clock& clock,
                                        std::stop_token stop);

}  // namespace paddle::os
