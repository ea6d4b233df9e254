// SPDX-License-Identifier: Apache-2.0
//
// Asks a runtime for its status and some of its jobs, in one request, without waiting for the
// answer: one thread asks all runtimes, over connections that are kept, and those that do not
// answer delay no other. An older runtime is asked for each job instead.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/client.h"
#include "runtime/runtime_client.h"

namespace paddle::net {
class HttpLoop;
}

namespace paddle::runtime {

// Connections that are kept; shared by polls and by what sends jobs (runtime_sends.h).
using RuntimeConnections = std::shared_ptr<net::HttpLoop>;
RuntimeConnections make_runtime_connections();

struct PollCall {
  std::string address{};  // of the pod, without a port
  RuntimeCredentials access{};
  std::vector<std::string> jobs{};  // ids, or kAllJobs
};
// Called once per poll unless the program ends first; from any thread. It returns soon. The report
// has its jobs.
using PollDone = std::function<void(Result<PollReport>)>;
// Thread-safe. Errors are those of client.h.
using RuntimePolls = std::function<void(PollCall call, PollDone done)>;

// The whole poll takes at most `limit`.
RuntimePolls http_runtime_polls(RuntimeConnections connections, std::chrono::milliseconds limit);
// The same for host:port instead of the address of a pod: for tests.
RuntimePolls http_polls_at(RuntimeConnections connections, std::chrono::milliseconds limit);

// Waits for each answer in turn, by RuntimeClient::poll: for tests.
RuntimePolls polls_by(RuntimeClientFactory clients);

}  // namespace paddle::runtime
