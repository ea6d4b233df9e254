// SPDX-License-Identifier: Apache-2.0
//
// The keeper owns what a test must not leave behind: a private directory and long-lived children.
// It is a process of its own, so that it still exists after the test was killed with -9:
//
//   test succeeds         -> children killed, directory removed
//   test fails            -> children killed, directory kept for its logs
//   test process dies     -> children killed, the ends of their logs printed, directory removed
//   keeper process dies   -> the kernel kills the children; the test removes the directory
//
// A child has its own session; stray grandchildren are adopted by the keeper and killed, too. All
// members are thread-safe.

#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "base/sync.h"
#include "base/unique_fd.h"
#include "test/support/keeper_protocol.h"
#include "test/support/process.h"

namespace paddle::test {

class Keeper {
 public:
  // The private directory is new, mode 0700, beneath $TMPDIR (or /tmp).
  static Result<std::unique_ptr<Keeper>> start();
  ~Keeper();  // returns when every child is dead and the directories are removed
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  const std::string& directory() const { return directory_; }
  // Another directory beneath `base`, removed even when the test failed.
  Result<std::string> scrap_directory(const std::string& base);

  // Uses argv, env, directory and log of the command.
  Result<pid_t> spawn(const Command& command);
  // Safe against reuse of the pid: a child that has ended is kNotFound.
  Result<> signal(pid_t child, int number);
  // How it ended; nullopt while it runs.
  Result<std::optional<Exit>> status(pid_t child);
  // Kills the child's process group and waits until the child is gone.
  Result<> kill(pid_t child);

  void keep_directory();  // the test failed
  pid_t pid() const { return pid_; }

 private:
  Keeper(pid_t pid, UniqueFd socket) : pid_(pid), socket_(std::move(socket)) {}
  Result<Packet> ask(const Packet& request);

  const pid_t pid_;
  std::string directory_{};  // constant after start()

  Mutex mutex_;
  UniqueFd socket_ GUARDED_BY(mutex_);
  std::vector<std::string> scraps_ GUARDED_BY(mutex_){};
  bool keep_ GUARDED_BY(mutex_) = false;
};

}  // namespace paddle::test
