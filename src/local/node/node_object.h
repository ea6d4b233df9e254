// SPDX-License-Identifier: Apache-2.0
//
// Builds the Node object of this machine: capacity, addresses, the Ready condition. It is a merge
// patch, so that labels and annotations of others stay. Pure, except machine_info().

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "api/json/json.h"
#include "base/clock.h"

namespace paddle::local {

struct MachineInfo {
  long cpus = 1;
  std::int64_t memory = 0;  // bytes
  std::string kernel{};
  std::string architecture{};
  std::string system{};  // "Debian GNU/Linux 12 (bookworm)"
  std::string host_name{};
  std::string address{};  // reachable by pods
};
MachineInfo machine_info();

// Without status, for a create.
api::Json node_object(const std::string& name, const MachineInfo& info,
                      const std::map<std::string, std::string>& labels);
api::Json node_status(const MachineInfo& info, WallTime now);

}  // namespace paddle::local
