// SPDX-License-Identifier: Apache-2.0
#include "csi/test_peers.h"

#include <atomic>
#include <cstdlib>
#include <utility>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <proto/csi.grpc.pb.h>

namespace paddle::csi {
namespace {

constexpr int kAnswerLimitMs = 20'000;

class Identity final : public ::csi::v1::Identity::Service {
 public:
  Identity(std::string name, bool ready) : name_(std::move(name)), ready_(ready) {}

  grpc::Status GetPluginInfo(grpc::ServerContext*, const ::csi::v1::GetPluginInfoRequest*,
                             ::csi::v1::GetPluginInfoResponse* info) override {
    info->set_name(name_);
    info->set_vendor_version("7");
    return grpc::Status::OK;
  }
  grpc::Status Probe(grpc::ServerContext*, const ::csi::v1::ProbeRequest*,
                     ::csi::v1::ProbeResponse* health) override {
    if (!ready_) health->mutable_ready()->set_value(false);
    return grpc::Status::OK;
  }
  void set_ready(bool ready) { ready_ = ready; }

 private:
  const std::string name_;
  std::atomic<bool> ready_;
};

}  // namespace

class FakeDriver::Impl {
 public:
  Impl(const std::string& socket, const std::string& name, bool ready) : identity_(name, ready) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
    builder.RegisterService(&identity_);
    server_ = builder.BuildAndStart();
    if (!server_) std::abort();
  }
  ~Impl() {
    server_->Shutdown(gpr_time_from_millis(0, GPR_TIMESPAN));
    server_->Wait();
  }
  void set_ready(bool ready) { identity_.set_ready(ready); }

 private:
  Identity identity_;
  std::unique_ptr<grpc::Server> server_;
};

FakeDriver::FakeDriver(const std::string& socket, const std::string& name, bool ready)
    : impl_(std::make_unique<Impl>(socket, name, ready)) {}
FakeDriver::~FakeDriver() = default;
void FakeDriver::set_ready(bool ready) { impl_->set_ready(ready); }

Result<std::string> call_registration(const std::string& socket, const std::string& method,
                                      const std::string& request) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  grpc::GenericStub stub(
      grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), arguments));
  grpc::ClientContext context;
  context.set_deadline(gpr_time_from_millis(kAnswerLimitMs, GPR_TIMESPAN));
  const grpc::Slice slice(request);
  const grpc::ByteBuffer sent(&slice, 1);
  grpc::ByteBuffer reply;
  grpc::Status status;
  grpc::CompletionQueue queue;
  const auto call =
      stub.PrepareUnaryCall(&context, "/pluginregistration.Registration/" + method, sent, &queue);
  call->StartCall();
  call->Finish(&reply, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  if (!status.ok()) return Error{Code::kUnavailable, status.error_message()};
  grpc::Slice bytes;
  if (!reply.DumpToSingleSlice(&bytes).ok()) return Error{Code::kInternal, "no single slice"};
  return std::string(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
}

std::string field(int number, const std::string& text) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(text.size())} + text;
}

}  // namespace paddle::csi
