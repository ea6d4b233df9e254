// SPDX-License-Identifier: Apache-2.0
//
// The options of the PaddleJob controller that its decisions depend on: a value, from the flags of
// the operator.

#pragma once

#include <string>

#include "controllers/paddle_job/spec/elastic.h"
#include "controllers/paddle_job/spec/host_ports.h"

namespace paddle::controllers::paddle_job {

struct Config {
  std::string scheduling{};  // "" or "volcano"
  // Image of the coordinator; empty: that of the training container, which then needs a shell.
  std::string init_image{};
  EtcdEndpoints etcd{};  // empty: no elastic training
  PortRange host_ports{};
  bool ipv6 = false;  // the primary addresses of pods are IPv6
  // Where the operator's own service accounts are; empty: nowhere.
  std::string operator_namespace{};
  // The cluster is a single machine: its owner causes every disruption, by a restart of the machine
  // or by deleting pods. Jobs without a disruptionLimit restart each time, and nothing is counted.
  bool one_machine = false;
  bool operator==(const Config&) const = default;
};

}  // namespace paddle::controllers::paddle_job
