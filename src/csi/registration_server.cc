// SPDX-License-Identifier: Apache-2.0
#include "csi/registration_server.h"

#include <chrono>
#include <utility>

#include <grpcpp/grpcpp.h>
#include <proto/pluginregistration.grpc.pb.h>

namespace paddle::csi {
namespace {

constexpr int kThreads = 8;  // kubelet makes one call at a time
constexpr std::chrono::milliseconds kEndLimit{1'000};

class Service final : public pluginregistration::Registration::Service {
 public:
  Service(Registration registration, RegistrationServer::StatusCallback on_status)
      : registration_(std::move(registration)), on_status_(std::move(on_status)) {}

  grpc::Status GetInfo(grpc::ServerContext*, const pluginregistration::InfoRequest*,
                       pluginregistration::PluginInfo* info) override {
    info->set_type("CSIPlugin");
    info->set_name(registration_.name);
    info->set_endpoint(registration_.endpoint);
    for (const auto& version : registration_.versions) info->add_supported_versions(version);
    return grpc::Status::OK;
  }

  grpc::Status NotifyRegistrationStatus(grpc::ServerContext*,
                                        const pluginregistration::RegistrationStatus* status,
                                        pluginregistration::RegistrationStatusResponse*) override {
    on_status_({.registered = status->plugin_registered(), .error = status->error()});
    return grpc::Status::OK;
  }

 private:
  const Registration registration_;
  const RegistrationServer::StatusCallback on_status_;
};

}  // namespace

class RegistrationServer::Impl {
 public:
  Impl(Registration registration, StatusCallback on_status)
      : service_(std::move(registration), std::move(on_status)) {}

  ~Impl() {
    if (!server_) return;
    server_->Shutdown(gpr_time_from_millis(kEndLimit.count(), GPR_TIMESPAN));
    server_->Wait();
  }

  Result<> listen(const std::string& path) {
    grpc::ResourceQuota quota;
    quota.SetMaxThreads(kThreads);
    grpc::ServerBuilder builder;
    builder.SetResourceQuota(quota);
    builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::NUM_CQS, 1);
    builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::MAX_POLLERS, 1);
    builder.AddListeningPort("unix:" + path, grpc::InsecureServerCredentials());
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    if (!server_) {
      return Error{Code::kUnavailable,
                   "cannot listen at " + path + "; its directory must exist and be writable"};
    }
    return Done{};
  }

 private:
  Service service_;
  std::unique_ptr<grpc::Server> server_;
};

Result<std::unique_ptr<RegistrationServer>> RegistrationServer::start(const std::string& path,
                                                                      Registration registration,
                                                                      StatusCallback on_status) {
  auto impl = std::make_unique<Impl>(std::move(registration), std::move(on_status));
  CHECK_DONE(impl->listen(path));
  return std::unique_ptr<RegistrationServer>(new RegistrationServer(std::move(impl)));
}

RegistrationServer::RegistrationServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RegistrationServer::~RegistrationServer() = default;

}  // namespace paddle::csi
