// SPDX-License-Identifier: Apache-2.0
//
// The kubelet of one machine: maintains its Node object, runs the pods that are bound to it,
// reports their status, and ends those that are deleted.
//
//   ApiServerOptions.api.logs = pod_logs(node.directory)                      (pod_logs.h)
//   TRY(auto node, Node::start(cluster, {.directory = ..., .program = "/proc/self/exe"}, metrics));
//
// All persistent state is in the API server: a node that is killed and started again continues from
// there. Pods that ran are restarted (restartCount + 1) or, with restartPolicy Never, become Failed
// with reason NodeRestarted. start() removes what an earlier node left (directories, mounts, the
// bridge).
//
// The given program must implement kContainerInitCommand and kPodPauseCommand (container_init.h).
// The destructor ends all pods at once and unmounts everything; the objects of the pods are not
// changed. Thread-safe.

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
  std::string directory{};                        // absolute; created if necessary, mode 0700
  std::string program = "/proc/self/exe";         // to start containers with
  std::string instance{};                         // names the pod network; empty: directory
  std::string cache_root{};                       // empty: <directory>/cache
  std::map<std::string, std::string> base_env{};  // defaults for the environment of pods
  // Directories that containers see read-only at the same path, even beneath their private /tmp.
  std::vector<std::string> visible_directories{};
  // More files and directories that containers must not see; `directory` is one of them.
  std::vector<std::string> hidden{};
  std::map<std::string, std::string> labels{};  // added to the usual labels of the Node
  bool sealed_views = true;                     // false: pods read sample sets through FUSE only
  bool bridge = true;  // false: loopback addresses even if a bridge is possible
};

class Node {
 public:
  // Returns when the Node is Ready and its pods are known. Borrows all references.
  static Result<std::unique_ptr<Node>> start(kube::Cluster& cluster, NodeOptions options,
                                             Metrics& metrics, const Clock& clock = system_clock());
  ~Node();

  // A sentence for users about the addresses of pods: "pods have addresses in 10.70.0.0/16", or why
  // they have not.
  std::string network_note() const;
  std::string host_address() const;  // the address of this machine for pods

 private:
  class Impl;
  explicit Node(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace paddle::local
