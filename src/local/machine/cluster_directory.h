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

struct ClusterDirectory {
  std::string path{};

  std::string kubeconfig() const { return path + "/kubeconfig"; }
  std::string log() const { return path + "/daemon.log"; }
  std::string lock() const { return path + "/daemon.lock"; }
  std::string api() const { return path + "/api"; }
  std::string node() const { return path + "/node"; }
};

// Makes the directory (private, with its parents) or tells in one sentence why it can not be used.
Result<> make_cluster_directory(const ClusterDirectory& directory);

// Becomes its keeper until the descriptor is closed. kAlreadyExists when another process is.
Result<UniqueFd> lock_cluster_directory(const ClusterDirectory& directory);

// A keeper that was alive while we looked; the descriptor names that very process. Not for the
// keeper itself: closing any descriptor of the file would end its lock.
struct LockHolder {
  int pid = 0;
  UniqueFd process{};
};
std::optional<LockHolder> find_lock_holder(const ClusterDirectory& directory);

}  // namespace paddle::local
