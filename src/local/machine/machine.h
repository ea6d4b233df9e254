// SPDX-License-Identifier: Apache-2.0
//
// A cluster on one machine: the API server, our controllers, the duties of a cluster and the node,
// composed in one process. They speak to each other only through the API, as in a real cluster.
//
//   start   API server -> kubeconfig -> controllers -> node (Ready)
//   end     node (its pods end) -> controllers -> API server
//
// start() returns when a PaddleJob can be applied; an error leaves nothing running. The caller is
// the lock holder of the directory (cluster_directory.h). The destructor is stop(). One owner.

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
  int port = 0;                                   // of the API server; 0: the kernel chooses
  std::string program = "/proc/self/exe";         // to start containers with (container_init.h)
  std::map<std::string, std::string> base_env{};  // of pods, under what they say themselves
  // Directories that pods see even beneath their own /tmp.
  std::vector<std::string> visible_directories{};
  std::function<void(const std::string&)> step{};  // told what was done, for people
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

// Gives this process a view of the machine's mounts of its own, so that whatever it mounts goes
// when it goes, however it goes. Before the first thread. Needs root.
Result<> unshare_mounts();

// Removes what a machine that was killed left outside its directory: the pods' bridge. The caller
// is the keeper of the directory.
void remove_leftovers(const ClusterDirectory& directory);

// What pods get of our environment: HOME, LANG, TZ, and a PATH that finds our own programs, which
// are in `program_directory`, first.
std::map<std::string, std::string> pod_environment(const std::map<std::string, std::string>& ours,
                                                   const std::string& program_directory);

}  // namespace paddle::local
