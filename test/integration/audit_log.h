// SPDX-License-Identifier: Apache-2.0
//
// The API server's audit log as values: who asked for what, and when the server received it.

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/clock.h"

namespace paddle::test {

struct AuditLine {
  WallTime received{};
  std::string agent{};
  std::string verb{};
  std::string resource{};
  std::string uri{};
  int code = 0;
  bool writes() const {
    return verb == "create" || verb == "update" || verb == "patch" || verb == "delete" ||
           verb == "deletecollection";
  }
  bool changed_the_lease() const { return writes() && resource == "leases" && code / 100 == 2; }
};

// Finished requests in the order of their arrival; a line that is still being written is left out.
std::vector<AuditLine> read_audit(const std::string& path);

// Writes of agents that start with `prefix` which came when another one had taken the lease, or
// when the writer's own lease (counted from its last good renewal) had passed. One sentence each.
std::vector<std::string> late_writes(const std::vector<AuditLine>& lines, const std::string& prefix,
                                     std::chrono::milliseconds lease);

}  // namespace paddle::test
