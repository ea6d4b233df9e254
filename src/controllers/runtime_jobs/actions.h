// SPDX-License-Identifier: Apache-2.0
//
// The actions of a plan that concern jobs on cache runtimes. Pure values. The id of a job is stored
// in a status before any runtime receives it, so each action may be repeated.

#pragma once

#include <string>

#include "runtime/protocol/protocol.h"

namespace paddle::controllers::runtime_jobs {

// Sends a job to the runtime of one partition.
struct PutJob {
  int partition = 0;
  std::string id{};
  runtime::JobRequest request{};
  bool operator==(const PutJob&) const = default;
};

struct CancelJob {
  int partition = 0;
  std::string id{};
  bool operator==(const CancelJob&) const = default;
};

}  // namespace paddle::controllers::runtime_jobs
