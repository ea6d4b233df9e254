// SPDX-License-Identifier: Apache-2.0
//
// A fake of one runtime, for tests of controllers: polls_by (runtime_polls.h) and sends_by
// (runtime_sends.h) call it. Errors are those of client.h.

#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/client.h"

namespace paddle::runtime {

class RuntimeClient {
 public:
  virtual ~RuntimeClient() = default;
  virtual Result<StatusReport> status(std::stop_token stop) = 0;
  virtual Result<JobReport> job(const std::string& id, std::stop_token stop) = 0;
  virtual Result<std::vector<JobReport>> jobs(std::stop_token stop) = 0;
  virtual Result<JobReport> put_job(const std::string& id, const JobRequest& request,
                                    std::stop_token stop) = 0;
  virtual Result<> cancel(const std::string& id, std::stop_token stop) = 0;
  // The jobs with these ids that it knows (kAllJobs: all), then the status, by the calls above.
  Result<PollReport> poll(const std::vector<std::string>& ids, std::stop_token stop);
};

// `address`: of the pod, without a port. Thread-safe.
using RuntimeClientFactory = std::function<std::unique_ptr<RuntimeClient>(
    const std::string& address, const RuntimeCredentials& access)>;

}  // namespace paddle::runtime
