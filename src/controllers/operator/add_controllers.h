// SPDX-License-Identifier: Apache-2.0
//
// The controllers of this project, added to a manager: the same for `paddle-operator` in a cluster
// and for `paddlectl local` on one machine.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "controllers/loop/manager.h"
#include "runtime/runtime_secret.h"

namespace paddle::controllers {

struct OperatorOptions {
  std::vector<std::string> controllers{"paddlejob", "sampleset", "samplejob"};
  std::string ns{};             // empty: all namespaces
  std::string runtime_image{};  // of cache runtimes; needed for SampleSets
  std::string juicefs_image{};  // of those with JuiceFS; empty: the same
  // Directories of nodes beneath which caches may be; empty: everywhere but the system's own.
  std::vector<std::string> cache_roots{};
  std::string own_namespace = "paddle-system";  // whose pods may ask runtimes
  int workers = 4;                              // per controller
  runtime::RuntimeSecretOptions identity{};     // of cache runtimes

  // PaddleJobs.
  std::string scheduling{};   // "" or "volcano"
  std::string init_image{};   // of the coordinator; empty: the job's own
  std::string etcd_server{};  // "a:2379,http://b:2379" for elastic training; empty: none
  std::pair<int, int> port_range{35000, 65000};  // of jobs on the host network
  bool ipv6 = false;                             // the cluster's first addresses are of IPv6
  bool one_machine = false;  // Setting::one_machine; its node mounts samplefs without a CSI driver
};

// kInvalid names a controller that there is not, or what is wrong with an option.
Result<> add_controllers(Manager& manager, const OperatorOptions& options,
                         const Clock& clock = system_clock());

}  // namespace paddle::controllers
