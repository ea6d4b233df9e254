// SPDX-License-Identifier: Apache-2.0
//
// The directory that one local cluster lives in, and who keeps it. One directory is one machine:
// its keeper holds a lock on `daemon.lock` for as long as it lives. The kernel lets go of the lock
// however the keeper ends and knows whose it is, so the lock is the proof of life and there is no
// number in a file that could be somebody else's by now.

#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace paddle::local {

struct Home {
  std::string directory{};

  std::string kubeconfig() const { return directory + "/kubeconfig"; }
  std::string log() const { return directory + "/daemon.log"; }
  std::string lock() const { return directory + "/daemon.lock"; }
  std::string api() const { return directory + "/api"; }
  std::string node() const { return directory + "/node"; }
};

// Makes the directory (private, with its parents) or tells in one sentence why it can not be used.
Result<> make_home(const Home& home);

// Becomes its keeper until the descriptor is closed. kAlreadyExists when another process is.
Result<UniqueFd> keep(const Home& home);

// A keeper that was alive while we looked; the descriptor names that very process. Not for the
// keeper itself: closing any descriptor of the file would end its lock.
struct Keeper {
  int pid = 0;
  UniqueFd process{};
};
std::optional<Keeper> keeper_of(const Home& home);

}  // namespace paddle::local
