// SPDX-License-Identifier: Apache-2.0
//
// The options of all controllers, as the operator's command line or `paddlectl local` set them. A
// value. Options of the runtimes' pods are in `runtime`, which reaches the engines as it is. Pure.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "controllers/paddle_job/config.h"
#include "engine/manifests.h"
#include "engine/time_limits.h"

namespace paddle::controllers {

struct OperatorOptions {
  std::vector<std::string> controllers{"paddlejob", "sampleset", "samplejob"};
  std::string ns{};  // empty: all namespaces
  int workers = 4;   // per controller

  // SampleSets.
  engine::RuntimeOptions runtime{};      // its image is needed
  std::string juicefs_image{};           // of runtimes with JuiceFS; empty: runtime.image
  std::int64_t namespace_cache_mib = 0;  // sample_set::Config
  std::chrono::seconds runtime_secret_lifetime = engine::kRuntimeSecretLifetime;

  // PaddleJobs.
  paddle_job::Config paddle_job{};  // without `etcd` and `one_machine`, which follow from the below
  std::string etcd_server{};        // "a:2379,http://b:2379" for elastic training; empty: none

  bool one_machine = false;  // Setting::one_machine; its node mounts samplefs without a CSI driver
  bool operator==(const OperatorOptions&) const = default;
};

}  // namespace paddle::controllers
