// SPDX-License-Identifier: Apache-2.0
//
// A cluster on one machine: the API server, our controllers, the controllers of a cluster and the
// node in one process. They communicate only through the API, as in a real cluster.
//
//   start   API server -> kubeconfig -> controllers -> node (Ready)
//   end     node (ends its pods) -> controllers -> API server
//
// start() returns when a PaddleJob can be applied; after an error nothing is running. The caller
// holds the lock of the directory (cluster_directory.h). The destructor stops everything. Not
// thread-safe.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "local/machine/cluster_directory.h"

namespace paddle::local {

struct MachineOptions {
  ClusterDirectory directory{};
  int port = 0;  // of the API server; 0: that of the last start if it is free, else any
  std::string program = "/proc/self/exe";         // to start containers with (container_init.h)
  std::map<std::string, std::string> base_env{};  // defaults for the environment of pods
  // Directories that pods see even beneath their own /tmp.
  std::vector<std::string> visible_directories{};
  bool sealed_views = true;                        // NodeOptions::sealed_views
  std::function<void(const std::string&)> step{};  // called after each step, with a text for users
};

class Machine {
 public:
  static Result<std::unique_ptr<Machine>> start(const MachineOptions& options,
                                                std::stop_token stop);
  ~Machine();

  const std::string& url() const;

 private:
  class Parts;
  explicit Machine(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// Gives this process its own mount namespace, so that its mounts end with it. Call it before the
// first thread. Needs root.
Result<> unshare_mounts();

// Removes what a killed cluster left outside its directory: the bridge of its pods. The caller
// holds the lock of the directory.
void remove_leftovers(const ClusterDirectory& directory);

// Makes caches removable that a cluster left sealed; waits for a moment until no process reads
// them. The caller holds the lock of the directory.
Result<> release_caches(const ClusterDirectory& directory);

// The environment of pods from ours: HOME, LANG, TZ, and a PATH that begins with
// `program_directory`, where our programs are.
std::map<std::string, std::string> pod_environment(const std::map<std::string, std::string>& ours,
                                                   const std::string& program_directory);

}  // namespace paddle::local
