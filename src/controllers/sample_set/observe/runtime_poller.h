// SPDX-License-Identifier: Apache-2.0
//
// The runtimes of a set as the reconciler sees them: asked all at once, each with a deadline. What
// does not answer says why in one sentence and holds up nobody else.

#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/sample_set.h"
#include "controllers/sample_set/world.h"
#include "runtime/runtime_client.h"

namespace paddle::controllers::sample_set {

struct RuntimePod {
  int partition = 0;
  std::string address{};
  std::string uid{};
};
// Those that may be asked: running, with an address.
std::vector<RuntimePod> running_runtimes(const api::SampleSet& set,
                                         const std::vector<api::Pod>& pods);

// What they are asked about, as the status has it.
struct PolledJobs {
  api::JobsName jobs{};
  std::vector<api::JobPartition> parts{};  // of the first sync
};
// In the order of `pods`. `refused` becomes true when `access` was too old for one.
std::vector<RuntimeReport> poll_runtimes(const runtime::RuntimeClientFactory& at,
                                         const std::vector<RuntimePod>& pods,
                                         const runtime::RuntimeCredentials& access,
                                         const PolledJobs& about, std::stop_token stop,
                                         bool& refused);

}  // namespace paddle::controllers::sample_set
