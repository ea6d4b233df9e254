// SPDX-License-Identifier: Apache-2.0
//
// What the operator's command line says about PaddleJobs. A value.

#pragma once

#include <string>

#include "controllers/paddle_job/spec/elastic.h"
#include "controllers/paddle_job/spec/host_ports.h"

namespace paddle::controllers::paddle_job {

struct Config {
  std::string scheduling{};  // "" or "volcano"
  // Of the coordinator; empty: the training container's own, which has to have a shell then.
  std::string init_image{};
  EtcdEndpoints etcd{};  // empty: no elastic training
  PortRange host_ports{};
  bool ipv6 = false;  // pods of this cluster have addresses of IPv6 first
  // The cluster is one machine: what disrupts its pods is its owner, who restarts it or deletes
  // them. Jobs without a disruptionLimit begin again each time, and it is not counted.
  bool one_machine = false;
};

}  // namespace paddle::controllers::paddle_job
