// SPDX-License-Identifier: Apache-2.0
#include "cli/down.h"

#include <filesystem>

#include <sys/mount.h>
#include <unistd.h>

#include "cli/daemon.h"
#include "cli/verb.h"
#include "fuse/mountinfo.h"
#include "local/machine/machine.h"

namespace paddle::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kGrace{60'000};

// Removing must not reach through a mount into what is mounted.
Result<> detach_mounts(const std::string& directory) {
  TRY(const auto mounts, fuse::read_mountinfo());
  for (auto each = mounts.rbegin(); each != mounts.rend(); ++each) {
    if (!each->point.starts_with(directory + "/")) continue;
    if (::umount2(each->point.c_str(), MNT_DETACH) != 0) {
      return Error{Code::kUnavailable,
                   each->point + " is mounted and can not be unmounted: run 'umount' on it first"};
    }
  }
  return Done{};
}

Result<> remove_directory(const local::Home& home) {
  std::error_code error;
  if (!fs::exists(home.directory, error)) return Done{};
  const bool ours = fs::exists(home.lock(), error) || fs::is_empty(home.directory, error);
  if (!ours) {
    return Error{Code::kInvalid, home.directory +
                                     " does not look like the directory of a local "
                                     "cluster: remove it yourself if you mean it"};
  }
  CHECK_DONE(detach_mounts(home.directory));
  fs::remove_all(home.directory, error);
  if (!error) return Done{};
  return Error{Code::kUnavailable, "remove " + home.directory + ": " + error.message()};
}

}  // namespace

Result<> run(const Down& verb, const Around& around) {
  const local::Home home = verb.where.home();
  const auto keeper = local::keeper_of(home);
  const bool ran = keeper.has_value();
  if (ran) {
    around.terminal.tell("Ending the local cluster in " + home.directory);
    CHECK_DONE(end_process(keeper->process.get(), kGrace));
    around.terminal.line("The local cluster in " + home.directory + " has ended.");
  } else if (::geteuid() != 0 && ::access(home.directory.c_str(), X_OK) != 0 &&
             ::access(home.directory.c_str(), F_OK) == 0) {
    return not_running(home);  // says that it belongs to somebody else
  } else {
    around.terminal.line("No local cluster is running in " + home.directory + ".");
  }
  std::error_code error;
  if (!fs::exists(home.lock(), error)) return verb.remove ? remove_directory(home) : Done{};
  // Nobody may begin here meanwhile.
  TRY(const UniqueFd lock, local::keep(home));
  if (!ran && ::geteuid() == 0) local::remove_leftovers(home);
  if (!verb.remove) return Done{};
  CHECK_DONE(remove_directory(home));
  around.terminal.line("Removed " + home.directory + ".");
  return Done{};
}

void add_down(CLI::App& local, Command& chosen) {
  const auto adding =
      add_verb<Down>(local, chosen, "down", "Ends the local cluster and its pods; objects stay.",
                     R"(  sudo paddlectl local down
  sudo paddlectl local down --delete)");
  adding.app->add_flag("--delete", adding.verb->remove,
                       "remove its directory too: objects, caches, logs");
}

}  // namespace paddle::cli
