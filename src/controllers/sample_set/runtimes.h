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

#include "api/pod.h"
#include "api/sample_set.h"
#include "controllers/sample_set/world.h"
#include "runtime/client.h"

namespace paddle::controllers::sample_sets {

// One runtime; runtime::Client for real.
class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual Result<runtime::StatusReport> status(std::stop_token stop) = 0;
  virtual Result<runtime::JobReport> job(const std::string& id, std::stop_token stop) = 0;
  virtual Result<runtime::JobReport> put_job(const std::string& id,
                                             const runtime::JobRequest& request,
                                             std::stop_token stop) = 0;
  virtual Result<> cancel(const std::string& id, std::stop_token stop) = 0;
};
// `address` is that of the pod. Thread-safe.
using RuntimeAt = std::function<std::unique_ptr<Runtime>(const std::string& address,
                                                         const runtime::Access& access)>;

RuntimeAt runtimes_over_http();

struct RuntimePod {
  int partition = 0;
  std::string address{};
  std::string uid{};
};
// Those that may be asked: running, with an address.
std::vector<RuntimePod> running(const api::SampleSet& set, const std::vector<api::Pod>& pods);

// What they are asked about, as the status has it.
struct Questions {
  api::JobsName jobs{};
  std::vector<api::JobPartition> parts{};  // of the first sync
};
// In the order of `pods`. `refused` becomes true when one did not take the token.
std::vector<RuntimeSeen> ask(const RuntimeAt& at, const std::vector<RuntimePod>& pods,
                             const runtime::Access& access, const Questions& about,
                             std::stop_token stop, bool& refused);

}  // namespace paddle::controllers::sample_sets
