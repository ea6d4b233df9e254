// SPDX-License-Identifier: Apache-2.0
#include "cli/readiness.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/unique_fd.h"
#include "cli/fields.h"

namespace paddle::cli {
namespace {

constexpr std::int64_t kLeastSpace = std::int64_t{64} << 20;

bool node_is_ready(const local::Home& home, const Around& around) {
  auto session = Session::open(home, around);
  if (!session) return false;
  bool ready = false;
  const auto listed = session->client().list(
      kube::resources::kNodes, {},
      [&](std::string_view text) -> Result<> {
        TRY(const api::Json node, api::parse_json(text));
        const api::Json* condition = condition_of(node, "Ready");
        ready = ready || (condition && text_at(*condition, {"status"}) == "True");
        return Done{};
      },
      session->call());
  return listed && ready;
}

}  // namespace

Result<> check(const Means& means, const std::string& directory) {
  if (!means.root) {
    return Error{Code::kForbidden,
                 "a local cluster needs root for its namespaces and mounts: run "
                 "'sudo paddlectl local up'"};
  }
  if (!means.fuse_problem.empty()) {
    return Error{Code::kUnavailable,
                 "/dev/fuse can not be used (" + means.fuse_problem +
                     "), so samples could not be mounted: run 'modprobe fuse', or start this "
                     "container with --device /dev/fuse"};
  }
  if (means.free_bytes < kLeastSpace) {
    return Error{Code::kUnavailable, "the disk of " + directory +
                                         " is full (less than 64 MiB left): make room, or "
                                         "choose another place with --directory"};
  }
  return Done{};
}

Means look_at_machine(const std::string& directory) {
  namespace fs = std::filesystem;
  Means means{.root = ::geteuid() == 0};
  const UniqueFd fuse(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
  if (!fuse) means.fuse_problem = std::strerror(errno);
  std::error_code error;
  fs::path place = directory;
  while (!fs::exists(place, error) && place.has_relative_path()) place = place.parent_path();
  const auto space = fs::space(place, error);
  if (!error) means.free_bytes = static_cast<std::int64_t>(space.available);
  return means;
}

Result<> await_ready(const local::Home& home, const Around& around,
                     std::chrono::milliseconds limit) {
  const BootTime deadline = around.clock.boot() + limit;
  while (!node_is_ready(home, around)) {
    if (!local::keeper_of(home)) return not_running(home);
    if (around.clock.boot() > deadline) {
      return Error{Code::kDeadline, "the local cluster in " + home.directory +
                                        " runs but does not get ready: see " + home.log()};
    }
    if (!around.clock.sleep(std::chrono::milliseconds{100}, around.terminal.stop())) {
      return Error{Code::kCancelled, "told to stop"};
    }
  }
  return Done{};
}

}  // namespace paddle::cli
