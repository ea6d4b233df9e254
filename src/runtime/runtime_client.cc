// SPDX-License-Identifier: Apache-2.0
#include "runtime/runtime_client.h"

namespace paddle::runtime {
namespace {

class HttpRuntimeClient final : public RuntimeClient {
 public:
  HttpRuntimeClient(const std::string& address, const RuntimeCredentials& access,
                    std::chrono::milliseconds limit)
      : client_(address_of(address), access, limit) {}

  Result<StatusReport> status(std::stop_token stop) override { return client_.status(stop); }
  Result<JobReport> job(const std::string& id, std::stop_token stop) override {
    return client_.job(id, stop);
  }
  Result<std::vector<JobReport>> jobs(std::stop_token stop) override { return client_.jobs(stop); }
  Result<JobReport> put_job(const std::string& id, const JobRequest& request,
                            std::stop_token stop) override {
    return client_.put_job(id, request, stop);
  }
  Result<> cancel(const std::string& id, std::stop_token stop) override {
    return client_.cancel(id, stop);
  }

 private:
  Client client_;
};

}  // namespace

Result<PollReport> RuntimeClient::poll(const std::vector<std::string>& ids, std::stop_token stop) {
  PollReport report;
  std::vector<JobReport>& found = report.jobs.emplace();
  for (const std::string& id : ids) {
    if (id == kAllJobs) {
      TRY(found, jobs(stop));
      break;
    }
    auto known = job(id, stop);
    if (!known && !known.is(Code::kNotFound)) return std::move(known).error();
    if (known) found.push_back(*std::move(known));
  }
  TRY(report.status, status(stop));
  return report;
}

RuntimeClientFactory http_runtime_clients(std::chrono::milliseconds limit) {
  return [limit](const std::string& address,
                 const RuntimeCredentials& access) -> std::unique_ptr<RuntimeClient> {
    return std::make_unique<HttpRuntimeClient>(address, access, limit);
  };
}

}  // namespace paddle::runtime
