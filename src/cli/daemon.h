// SPDX-License-Identifier: Apache-2.0
//
// The process in the background that keeps a local cluster: how it is started, how it tells whether
// its start went well, and how it is ended.
//
// It is this program again (`local up --foreground`), in a session of its own, with its output in
// <directory>/daemon.log and an environment of four names. Until it is ready it writes lines to a
// pipe: "step TEXT", then "ready" or "failed TEXT"; a pipe that closes before means that it died.

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

// One line of the report. Pure.
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
  static Result<Daemon> start(const local::ClusterDirectory& directory, int port);
  Daemon(Daemon&&) = default;

  // Until it is ready. The error is the daemon's own reason; kCancelled when `stop` came first.
  // Whatever the error, it has ended when this returns.
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

// SIGTERM, and SIGKILL when it is still there after `limit`. Returns when it is gone.
Result<> end_process(int process_fd, std::chrono::milliseconds limit);
// False when the limit passed first.
bool wait_for_end(int process_fd, std::chrono::milliseconds limit);

}  // namespace paddle::cli
