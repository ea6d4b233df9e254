// SPDX-License-Identifier: Apache-2.0
//
// The runtimes of a set, as far as jobs need them. Each call has a deadline.

#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/client.h"

namespace paddle::controllers::sample_jobs {

class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual Result<runtime::JobReport> job(const std::string& id, std::stop_token stop) = 0;
  virtual Result<std::vector<runtime::JobReport>> jobs(std::stop_token stop) = 0;
  virtual Result<runtime::JobReport> put_job(const std::string& id,
                                             const runtime::JobRequest& request,
                                             std::stop_token stop) = 0;
  virtual Result<> cancel(const std::string& id, std::stop_token stop) = 0;
};

// `address` is that of the pod. Thread-safe.
using RuntimeAt = std::function<std::unique_ptr<Runtime>(const std::string& address,
                                                         const runtime::Access& access)>;
RuntimeAt runtimes_over_http();

}  // namespace paddle::controllers::sample_jobs
