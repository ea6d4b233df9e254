// SPDX-License-Identifier: Apache-2.0
#include "local/node/command.h"

#include <chrono>
#include <utility>

#include "base/clock.h"
#include "os/subprocess.h"

namespace paddle::local {
namespace {

constexpr std::chrono::seconds kTimeout{30};  // they take milliseconds

}  // namespace

Result<> run_command(std::vector<std::string> words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  const os::Command command{.argv = std::move(words),
                            .env = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
                            .timeout = kTimeout,
                            .keep_only_end = true,
                            .merge_errors = true};
  const auto ran = os::run_subprocess(command, system_clock(), {});
  if (ran.is(Code::kNotFound)) {
    return Error{Code::kUnavailable,
                 "cannot run `" + command.argv[0] +
                     "` (install iproute2, util-linux and nftables): " + ran.error().message};
  }
  if (!ran) return Error{Code::kUnavailable, "`" + line + "` failed: " + ran.error().message};
  if (ran->exit_code == 0) return Done{};
  const std::string printed = ran->out.substr(0, ran->out.find('\n'));
  return Error{Code::kUnavailable,
               "`" + line + "` failed" + (printed.empty() ? "" : ": " + printed)};
}

}  // namespace paddle::local
