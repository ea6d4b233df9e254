// SPDX-License-Identifier: Apache-2.0
//
// Child processes for tests. A child gets exactly the environment it is given, no descriptor of
// ours but 0, 1 and 2, and a session (hence a process group) of its own.
//
// By default the kernel kills the child when the *thread* that spawned it ends. A child that must
// outlive its thread is therefore spawned by the keeper (keeper.h), which has one thread and no
// other task.

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "base/unique_fd.h"

namespace paddle::test {

struct Command {
  std::vector<std::string> argv{};  // argv[0] is a path; PATH is not searched
  std::vector<std::string> env{};   // "NAME=value", nothing is added
  std::string directory{};          // working directory; empty: ours
  std::string log{};                // standard output and error are appended here
  bool dies_with_us = true;
  int input = -1;   // standard input; -1: /dev/null
  int output = -1;  // standard output and error when there is no log; -1: ours
  int errors = -1;
};

struct Exit {
  int code = 0;    // exit status, 0 when a signal ended it
  int signal = 0;  // 0 when it exited by itself
  bool operator==(const Exit&) const = default;
};
std::string describe(const Exit& exit);

// A program that cannot be executed is an error here, not an exit code later.
Result<pid_t> spawn(const Command& command);

// Nullopt while the child runs. Reaps the child: it must not be called again after that.
std::optional<Exit> poll_exit(pid_t child);

// Kills the child's whole process group and reaps the child.
void kill_and_reap(pid_t child);

// Returns when every thread of the child has stopped: after a plain kill() they run until one of
// them notices it, which on a busy machine is time enough to answer a request. False when it has
// ended.
bool freeze(pid_t child);
void thaw(pid_t child);

// False for a zombie, too: it does not run any more, only its parent has not reaped it yet.
bool alive(pid_t process);

// A descriptor that becomes readable when the process ends; invalid when there is no such process.
UniqueFd watch_process(pid_t process);

struct Ran {
  int exit_code = 0;  // 128 + signal when one ended it, as in a shell; -1 when it never ran
  std::string out{};
  std::string err{};
};
// Runs to the end; a child that exceeds `limit` is killed, and `err` reports it.
Ran run(Command command, const std::string& input = {},
        std::chrono::milliseconds limit = std::chrono::minutes{2});

// PATH, HOME and TMPDIR, and nothing of the caller's: no proxies, no certificate overrides.
std::vector<std::string> clean_environment(const std::string& home);

// The end of a file, at most `lines` lines; empty when there is none.
std::string tail(const std::string& path, size_t lines);
std::string read_file(const std::string& path);
Result<> write_file(const std::string& path, const std::string& content);

}  // namespace paddle::test
