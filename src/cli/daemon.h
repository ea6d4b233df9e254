// SPDX-License-Identifier: Apache-2.0
//
// The background process that runs a local cluster: starts it, reads its startup reports, and ends
// it.
//
// It is this program (`local up --foreground`) in its own session, with its output in
// <directory>/daemon.log and an environment of four variables. Until it is ready it writes lines to
// a pipe: "step TEXT", then "ready" or "failed TEXT"; if the pipe closes before, it has died.

#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "local/machine/cluster_directory.h"

namespace paddle::cli {

// One line on the pipe. Pure.
struct StartupReport {
  enum class Type { kStep, kReady, kFailed };
  Type type = Type::kStep;
  std::string text{};
  bool operator==(const StartupReport&) const = default;
};
std::optional<StartupReport> parse_startup_report(std::string_view line);
std::string format_startup_report(const StartupReport& report);  // with its line break

class Daemon {
 public:
  static Result<Daemon> start(const local::ClusterDirectory& directory, int port,
                              bool no_sealed_views = false);
  Daemon(Daemon&&) = default;

  // Waits until the daemon is ready. The error is the daemon's own; kCancelled when `stop` was
  // requested first. After any error the daemon has ended.
  Result<> await_ready(const std::function<void(const std::string&)>& step, std::stop_token stop);

 private:
  Daemon(local::ClusterDirectory directory, int pid, UniqueFd process, UniqueFd report)
      : directory_(std::move(directory)),
        pid_(pid),
        process_(std::move(process)),
        report_(std::move(report)) {}
  Error ended_early();

  local::ClusterDirectory directory_;
  int pid_;
  UniqueFd process_;
  UniqueFd report_;
};

// Sends SIGTERM, and SIGKILL after `limit`. Returns when the process has ended.
Result<> end_process(int process_fd, std::chrono::milliseconds limit);
// False when the limit passed first.
bool wait_for_end(int process_fd, std::chrono::milliseconds limit);

}  // namespace paddle::cli
