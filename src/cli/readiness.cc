// SPDX-License-Identifier: Apache-2.0
#include "cli/readiness.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "api/json/look.h"
#include "base/unique_fd.h"
#include "cli/wait_condition.h"

namespace paddle::cli {
namespace {

constexpr std::int64_t kLeastSpace = std::int64_t{64} << 20;

bool node_is_ready(const local::ClusterDirectory& directory, const CommandContext& context) {
  auto session = Session::open(directory, context);
  if (!session) return false;
  bool ready = false;
  const auto listed = session->client().list(
      kube::resources::kNodes, {},
      [&](std::string_view text) -> Result<> {
        TRY(const api::Json node, api::parse_json(text));
        const api::Json* condition = condition_of(node, "Ready");
        ready = ready || (condition && api::look_text(*condition, "status") == "True");
        return Done{};
      },
      session->call());
  return listed && ready;
}

}  // namespace

Result<> check_prerequisites(const Prerequisites& prerequisites, const std::string& directory) {
  if (!prerequisites.root) {
    return Error{Code::kForbidden,
                 "a local cluster needs root for its namespaces and mounts: run "
                 "'sudo paddlectl local up'"};
  }
  if (!prerequisites.fuse_problem.empty()) {
    return Error{Code::kUnavailable,
                 "/dev/fuse cannot be used (" + prerequisites.fuse_problem +
                     "), so samples cannot be mounted: run 'modprobe fuse', or start this "
                     "container with --device /dev/fuse"};
  }
  if (prerequisites.free_bytes < kLeastSpace) {
    return Error{Code::kUnavailable, "the disk of " + directory +
                                         " is full (less than 64 MiB left): free some space, or "
                                         "choose another directory with --directory"};
  }
  return Done{};
}

Prerequisites inspect_machine(const std::string& directory) {
  namespace fs = std::filesystem;
  Prerequisites prerequisites{.root = ::geteuid() == 0};
  const UniqueFd fuse(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
  if (!fuse) prerequisites.fuse_problem = std::strerror(errno);
  std::error_code error;
  fs::path place = directory;
  while (!fs::exists(place, error) && place.has_relative_path()) place = place.parent_path();
  const auto space = fs::space(place, error);
  if (!error) prerequisites.free_bytes = static_cast<std::int64_t>(space.available);
  return prerequisites;
}

Result<> await_ready(const local::ClusterDirectory& directory, const CommandContext& context,
                     std::chrono::milliseconds limit) {
  const BootTime deadline = context.clock.boot() + limit;
  while (!node_is_ready(directory, context)) {
    if (!local::find_lock_holder(directory)) return not_running(directory);
    if (context.clock.boot() > deadline) {
      return Error{Code::kDeadline, "the local cluster in " + directory.path +
                                        " is running but not ready: see " + directory.log()};
    }
    if (!context.clock.sleep(std::chrono::milliseconds{100}, context.terminal.stop())) {
      return Error{Code::kCancelled, "interrupted"};
    }
  }
  return Done{};
}

}  // namespace paddle::cli
