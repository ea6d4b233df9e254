// SPDX-License-Identifier: Apache-2.0
//
// The input of container_init.h: one value, passed as JSON on an inherited descriptor (never in
// argv: it may contain secrets). The format is private to one program and its re-execution, so it
// has no version.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "local/node/security_context.h"

namespace paddle::local {

struct BindMount {
  std::string source{};    // absolute, on the host
  std::string sub_path{};  // beneath the source; never leaves it
  std::string target{};    // absolute, in the container
  bool read_only = false;
  bool create_directory = false;  // create sub_path if it does not exist
  bool operator==(const BindMount&) const = default;
};

struct ContainerPlan {
  std::vector<std::string> argv{};
  std::map<std::string, std::string> env{};
  std::string working_dir{};
  std::string directory{};          // private to this container: its writable layer
  std::string network_namespace{};  // path of the pod's; empty = the machine's
  std::string hostname{};
  std::vector<BindMount> mounts{};
  std::vector<std::string> hidden{};  // absolute, on the host: the container does not see them
  SecurityContext security{};
  bool operator==(const ContainerPlan&) const = default;
};

api::Json encode(const ContainerPlan& plan);
Result<ContainerPlan> decode_container_plan(const api::Json& from);

}  // namespace paddle::local
