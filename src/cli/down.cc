// SPDX-License-Identifier: Apache-2.0
#include "cli/down.h"

#include <filesystem>

#include <sys/mount.h>
#include <unistd.h>

#include "cli/daemon.h"
#include "cli/demo.h"
#include "cli/verb.h"
#include "fuse/mountinfo.h"
#include "local/machine/machine.h"

namespace paddle::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kGrace{60'000};

// remove_all() must not delete files on a mount.
Result<> detach_mounts(const std::string& directory) {
  TRY(const auto mounts, fuse::read_mountinfo());
  for (auto each = mounts.rbegin(); each != mounts.rend(); ++each) {
    if (!each->point.starts_with(directory + "/")) continue;
    if (::umount2(each->point.c_str(), MNT_DETACH) != 0) {
      return Error{Code::kUnavailable,
                   each->point + " is mounted and cannot be unmounted: run 'umount' on it first"};
    }
  }
  return Done{};
}

Result<> remove_directory(const local::ClusterDirectory& directory) {
  std::error_code error;
  if (!fs::exists(directory.path, error)) return Done{};
  const bool ours = fs::exists(directory.lock(), error) || fs::is_empty(directory.path, error);
  if (!ours) {
    return Error{Code::kInvalid, directory.path +
                                     " does not look like the directory of a local "
                                     "cluster: remove it manually if you are sure"};
  }
  CHECK_DONE(detach_mounts(directory.path));
  fs::remove_all(directory.path, error);
  if (!error) return Done{};
  return Error{Code::kUnavailable, "remove " + directory.path + ": " + error.message()};
}

}  // namespace

Result<> run(const Down& verb, const CommandContext& context) {
  const local::ClusterDirectory directory = verb.flags.cluster_directory();
  const auto holder = local::find_lock_holder(directory);
  const bool ran = holder.has_value();
  if (ran) {
    context.terminal.message("Ending the local cluster in " + directory.path);
    CHECK_DONE(end_process(holder->process.get(), kGrace));
    context.terminal.line("The local cluster in " + directory.path + " has ended.");
  } else if (::geteuid() != 0 && ::access(directory.path.c_str(), X_OK) != 0 &&
             ::access(directory.path.c_str(), F_OK) == 0) {
    return not_running(directory);  // its message names the other user's directory
  } else {
    context.terminal.line("No local cluster is running in " + directory.path + ".");
  }
  std::error_code error;
  if (!fs::exists(directory.lock(), error))
    return verb.remove ? remove_directory(directory) : Done{};
  // No other `up` may start here meanwhile.
  TRY(const UniqueFd lock, local::lock_cluster_directory(directory));
  if (!ran && ::geteuid() == 0) local::remove_leftovers(directory);
  const auto released = ::geteuid() == 0 ? local::release_caches(directory) : Result<>(Done{});
  if (!verb.remove) return Done{};  // else the next `up` does it
  CHECK_DONE(released);
  CHECK_DONE(remove_directory(directory));
  fs::remove_all(demo_directory(directory), error);
  context.terminal.line("Removed " + directory.path + ".");
  return Done{};
}

void add_down(CLI::App& local, Command& chosen) {
  const auto subcommand =
      add_verb<Down>(local, chosen, "down", "Ends the local cluster and its pods; objects stay.",
                     R"(  sudo paddlectl local down
  sudo paddlectl local down --delete)");
  subcommand.app->add_flag(
      "--delete", subcommand.verb->remove,
      "remove its directory too: objects, logs, and the caches in it; caches in "
      "directories of spec.cache.levels stay");
}

}  // namespace paddle::cli
