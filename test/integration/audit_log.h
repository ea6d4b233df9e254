// SPDX-License-Identifier: Apache-2.0
//
// The API server's audit log as values: which client requested what, and when the server received
// it.

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

// Reads a growing log piece by piece. Not thread-safe.
class AuditLog {
 public:
  // Only requests of agents that start with `prefix`.
  AuditLog(std::string path, std::string prefix)
      : path_(std::move(path)), prefix_(std::move(prefix)) {}

  // Every finished request so far; a line that is still being written is returned by a later call.
  const std::vector<AuditLine>& lines();

 private:
  void take(const std::string& text);

  const std::string path_;
  const std::string prefix_;
  std::streamoff read_ = 0;
  std::vector<AuditLine> lines_{};
};

// Writes that the server received after another process had acquired the lease, or after the
// writer's own lease (counted from its last successful renewal) had expired. One sentence each.
std::vector<std::string> late_writes(std::vector<AuditLine> lines, std::chrono::milliseconds lease);

}  // namespace paddle::test
