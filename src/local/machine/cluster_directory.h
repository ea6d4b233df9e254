// SPDX-License-Identifier: Apache-2.0
//
// The data directory of one local cluster, and its lock. One directory is one cluster: the process
// that runs it holds a lock on `daemon.lock` while it lives. The kernel releases the lock when that
// process ends, and returns its pid, so there is no pid file that could name another process.

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
  std::string port() const { return path + "/port"; }
  std::string api() const { return path + "/api"; }
  std::string node() const { return path + "/node"; }
};

// Creates the directory (private, with its parents); the error is one sentence.
Result<> make_cluster_directory(const ClusterDirectory& directory);

// The port of the API server at its last start, so that copies of the kubeconfig stay valid. 0:
// none is known.
int last_port(const ClusterDirectory& directory);

// Takes the lock until the descriptor is closed. kAlreadyExists when another process holds it.
Result<UniqueFd> lock_cluster_directory(const ClusterDirectory& directory);

// The process that held the lock during the call; the pidfd refers to exactly that process. The
// holder must not call find_lock_holder(): closing any descriptor of the file would release its
// lock.
struct LockHolder {
  int pid = 0;
  UniqueFd process{};
};
std::optional<LockHolder> find_lock_holder(const ClusterDirectory& directory);

}  // namespace paddle::local
