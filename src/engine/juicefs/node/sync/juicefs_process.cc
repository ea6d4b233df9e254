// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/sync/juicefs_process.h"

#include "base/clock.h"
#include "engine/time_limits.h"

namespace paddle::engine::juicefs {
namespace {

constexpr std::size_t kOutputLimit = std::size_t{64} << 10;

}  // namespace

Result<os::CompletedProcess> run_juicefs(const CommandLine& command, std::stop_token stop,
                                         const ProcessOptions& options) {
  return os::run_subprocess({.argv = command.argv,
                             .env = command.env,
                             .termination_grace = kChildKillDelay,
                             .max_output = kOutputLimit,
                             .keep_only_end = true,
                             .merge_errors = true,
                             .background = options.background,
                             .dies_with_us = true,
                             .kill_leftovers = true,
                             .on_output = options.on_output,
                             .may_run = options.may_run},
                            system_clock(), std::move(stop));
}

}  // namespace paddle::engine::juicefs
