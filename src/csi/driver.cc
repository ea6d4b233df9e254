// SPDX-License-Identifier: Apache-2.0
#include "csi/driver.h"

#include <grpcpp/grpcpp.h>
#include <proto/csi.grpc.pb.h>

namespace paddle::csi {
namespace {

Error error_of(const grpc::Status& status, const char* call, std::stop_token stop) {
  if (stop.stop_requested()) return {Code::kCancelled, "stopped"};
  const bool late = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
  return {late ? Code::kDeadline : Code::kUnavailable,
          std::string(call) + ": " + (late ? "no answer" : status.error_message())};
}

// One call: `stop` cancels it, `limit` ends it.
template <typename Call>
Result<> call_with_deadline(const char* name, std::chrono::milliseconds limit, std::stop_token stop,
                            Call call) {
  grpc::ClientContext context;
  context.set_deadline(gpr_time_from_millis(limit.count(), GPR_TIMESPAN));
  const std::stop_callback cancel(stop, [&] { context.TryCancel(); });
  if (const grpc::Status status = call(&context); !status.ok()) {
    return error_of(status, name, stop);
  }
  return Done{};
}

}  // namespace

Result<DriverInfo> get_driver_info(const std::string& socket, std::chrono::milliseconds limit,
                                   std::stop_token stop) {
  grpc::ChannelArguments arguments;
  // A new connection each time: the back-off of earlier failures does not delay this one.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  const auto driver = ::csi::v1::Identity::NewStub(
      grpc::CreateCustomChannel("unix:" + socket, grpc::InsecureChannelCredentials(), arguments));

  ::csi::v1::GetPluginInfoResponse info;
  CHECK_DONE(call_with_deadline("GetPluginInfo", limit, stop, [&](grpc::ClientContext* context) {
    return driver->GetPluginInfo(context, {}, &info);
  }));
  ::csi::v1::ProbeResponse health;
  CHECK_DONE(call_with_deadline("Probe", limit, stop, [&](grpc::ClientContext* context) {
    return driver->Probe(context, {}, &health);
  }));
  if (health.has_ready() && !health.ready().value()) {
    return Error{Code::kUnavailable, "Probe: the driver is not ready yet"};
  }
  return DriverInfo{.name = info.name(), .version = info.vendor_version()};
}

}  // namespace paddle::csi
