// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/runtimes.h"
#include "runtime/client.h"

namespace paddle::controllers::sample_sets {
namespace {

constexpr std::chrono::seconds kLimit{4};

class RuntimeOverHttp final : public Runtime {
 public:
  RuntimeOverHttp(const std::string& address, const runtime::Access& access)
      : client_(address, access, kLimit) {}

  Result<runtime::StatusReport> status(std::stop_token stop) override {
    return client_.status(stop);
  }
  Result<runtime::JobReport> job(const std::string& id, std::stop_token stop) override {
    return client_.job(id, stop);
  }
  Result<runtime::JobReport> put_job(const std::string& id, const runtime::JobRequest& request,
                                     std::stop_token stop) override {
    return client_.put_job(id, request, stop);
  }
  Result<> cancel(const std::string& id, std::stop_token stop) override {
    return client_.cancel(id, stop);
  }

 private:
  runtime::Client client_;
};

}  // namespace

RuntimeAt runtimes_over_http() {
  return [](const std::string& address, const runtime::Access& access) -> std::unique_ptr<Runtime> {
    return std::make_unique<RuntimeOverHttp>(runtime::address_of(address), access);
  };
}

}  // namespace paddle::controllers::sample_sets
