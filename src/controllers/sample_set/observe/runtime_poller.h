// SPDX-License-Identifier: Apache-2.0
//
// Asks the runtimes of a SampleSet for their status and their jobs: several at the same time, each
// with a timeout. A runtime that does not answer is reported with its error and delays no other.

#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "api/sample_set.h"
#include "controllers/sample_set/decide/runtime_liveness.h"
#include "controllers/sample_set/world.h"
#include "runtime/runtime_client.h"

namespace paddle::controllers::sample_set {

// The jobs to poll, as the status has them.
struct PolledJobs {
  api::JobsName names{};
  std::vector<api::JobPartition> parts{};  // of the first sync
};

struct PollResult {
  std::vector<RuntimeReport> reports{};  // in the order of `runtimes`
  bool credentials_refused = false;      // by one runtime at least
};
PollResult poll_runtimes(const runtime::RuntimeClientFactory& clients,
                         const std::vector<RunningRuntime>& runtimes,
                         const runtime::RuntimeCredentials& credentials, const PolledJobs& jobs,
                         std::stop_token stop);

}  // namespace paddle::controllers::sample_set
