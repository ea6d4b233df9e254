// SPDX-License-Identifier: Apache-2.0
//
// The options of all controllers, as the operator's command line or `paddlectl local` set them. A
// value. Options of the runtimes' pods are in `runtime`, which reaches the engines as it is. Pure.

#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "engine/manifests.h"
#include "engine/time_limits.h"

namespace paddle::controllers {

struct OperatorOptions {
  std::vector<std::string> controllers{"paddlejob", "sampleset", "samplejob"};
  std::string ns{};  // empty: all namespaces
  int workers = 4;   // per controller

  // SampleSets.
  engine::RuntimeOptions runtime{};  // its image is needed
  std::string juicefs_image{};       // of runtimes with JuiceFS; empty: runtime.image
  std::chrono::seconds runtime_secret_lifetime = engine::kRuntimeSecretLifetime;

  // PaddleJobs.
  std::string scheduling{};   // "" or "volcano"
  std::string init_image{};   // of the coordinator; empty: the job's own
  std::string etcd_server{};  // "a:2379,http://b:2379" for elastic training; empty: none
  std::pair<int, int> port_range{35000, 65000};  // of jobs on the host network
  bool ipv6 = false;                             // the cluster's first addresses are of IPv6
  bool one_machine = false;  // Setting::one_machine; its node mounts samplefs without a CSI driver
  bool operator==(const OperatorOptions&) const = default;
};

}  // namespace paddle::controllers
