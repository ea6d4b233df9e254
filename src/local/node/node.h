// SPDX-License-Identifier: Apache-2.0
//
// The kubelet of one machine: keeps its Node object, runs the pods that are bound to it, says in
// their status what becomes of them, and ends those that are deleted.
//
//   ApiServerOptions.api.logs = pod_logs(node.directory)                      (pod_logs.h)
//   TRY(auto node, Node::start(cluster, {.directory = ..., .program = "/proc/self/exe"}, metrics));
//
// Everything it knows that matters is in the API server: a node that is killed and started again
// goes on from there. Pods that ran are run again (restartCount + 1) or, with restartPolicy Never,
// Failed with reason NodeRestarted. What an earlier node left behind (directories, mounts, the
// bridge) is removed at the start.
//
// The program it is given must answer to kContainerInitCommand and kPodPauseCommand
// (container_init.h). The destructor ends all pods at once, unmounts, and leaves nothing running;
// their objects stay as they are. Thread-safe.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/result.h"
#include "kube/cluster.h"

namespace paddle::local {

struct NodeOptions {
  std::string name = "local";
  std::string directory{};                 // of its own, absolute; made when absent, 0700
  std::string program = "/proc/self/exe";  // to start containers with
  std::string instance{};                  // keeps two machines' networks apart; empty: directory
  std::string cache_root{};                // empty: <directory>/cache
  std::map<std::string, std::string> base_env{};  // under what a pod says itself
  // Directories that containers see read-only at their own place, even beneath the /tmp that each
  // container has of its own.
  std::vector<std::string> visible_directories{};
  std::map<std::string, std::string> labels{};  // put on the Node beside the usual ones
  bool bridge = true;  // false: loopback addresses even where a bridge could be
};

class Node {
 public:
  // Returns when the Node is Ready and the pods it has to run are known. Borrows all references.
  static Result<std::unique_ptr<Node>> start(kube::Cluster& cluster, NodeOptions options,
                                             Metrics& metrics, const Clock& clock = system_clock());
  ~Node();

  // Where pods are reached, in one sentence for people: "pods have addresses in 10.70.0.0/16", or
  // why they have not.
  std::string network_note() const;
  std::string host_address() const;  // this machine, as pods see it

 private:
  class Impl;
  explicit Node(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace paddle::local
