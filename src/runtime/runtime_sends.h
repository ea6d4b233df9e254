// SPDX-License-Identifier: Apache-2.0
//
// Sends a job to a runtime, or cancels one, without waiting for the answer: over the connections
// that polls use (runtime_polls.h), so that a runtime that does not answer delays no caller.

#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "runtime/client.h"
#include "runtime/runtime_client.h"
#include "runtime/runtime_polls.h"

namespace paddle::runtime {

struct JobCall {
  std::string address{};  // of the pod, without a port
  RuntimeCredentials access{};
  std::string id{};
  std::optional<JobRequest> request{};  // absent: the job is to be cancelled
};
// Called once per call unless the program ends first; from any thread. It returns soon.
using SendDone = std::function<void(Result<>)>;
// Thread-safe. Errors are those of client.h. A call may be repeated: its id makes it idempotent.
using RuntimeSends = std::function<void(JobCall call, SendDone done)>;

// The whole call takes at most `limit`.
RuntimeSends http_runtime_sends(RuntimeConnections connections, std::chrono::milliseconds limit);
// The same for host:port instead of the address of a pod: for tests.
RuntimeSends http_sends_at(RuntimeConnections connections, std::chrono::milliseconds limit);

// Waits for the answer: for tests.
RuntimeSends sends_by(RuntimeClientFactory clients);

}  // namespace paddle::runtime
