// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/rendezvous.h"

#include <nlohmann/json.hpp>

#include "controllers/paddle_job/pods.h"

namespace paddle::controllers {
namespace {

template <typename Each>
std::string joined(const std::vector<std::string>& addresses, Each each) {
  std::string out;
  for (const auto& address : addresses) {
    if (!out.empty()) out += ',';
    out += each(address);
  }
  return out;
}

}  // namespace

std::string endpoint(const std::string& address, int port) {
  const bool v6 = address.find(':') != std::string::npos;
  return (v6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

std::map<std::string, std::string> rendezvous_data(const api::PaddleJob& job,
                                                   const Addresses& addresses) {
  const int port = kFirstPort;
  const auto endpoints = [&](RoleKind kind) {
    return joined(addresses.at(kind), [&](const auto& a) { return endpoint(a, port); });
  };
  std::map<std::string, std::string> data{
      {"TRAINER_PORTS_NUM", std::to_string(kPortsPerJob)},
      {"PADDLE_PORT", std::to_string(port)},
      {"PADDLE_JOB_ID", job.meta.key.ns + "-" + job.meta.key.name},
  };
  if (job.spec.ps) data["PADDLE_PSERVERS_IP_PORT_LIST"] = endpoints(RoleKind::kPs);
  if (job.spec.heter) {
    data["PADDLE_HETER_ENDPOINTS"] = endpoints(RoleKind::kHeter);
    data["PADDLE_HETER_TRAINER_IP_PORT_LIST"] = endpoints(RoleKind::kHeter);
  }
  if (job.spec.worker) {
    const auto& workers = addresses.at(RoleKind::kWorker);
    data["PADDLE_TRAINER_ENDPOINTS"] = endpoints(RoleKind::kWorker);
    data["PADDLE_TRAINERS"] = joined(workers, [](const auto& a) { return a; });
    data["PADDLE_TRAINERS_NUM"] = std::to_string(workers.size());
    if (!job.spec.ps && !workers.empty()) {  // what the launcher of Paddle 2.3 and later reads
      data["PADDLE_MASTER"] = endpoint(workers.front(), port);
      data["PADDLE_NNODES"] = std::to_string(workers.size());
    }
  }
  if (job.spec.with_gloo.value_or(0) > 0 && job.spec.ps && !addresses.at(RoleKind::kPs).empty()) {
    data["PADDLE_WITH_GLOO"] = std::to_string(*job.spec.with_gloo);
    data["PADDLE_GLOO_RENDEZVOUS"] = "3";
    data["PADDLE_GLOO_HTTP_ENDPOINT"] =
        endpoint(addresses.at(RoleKind::kPs).front(), port + kGlooOffset);
  }
  return data;
}

api::Json rendezvous_map(const api::PaddleJob& job,
                         const std::map<std::string, std::string>& data) {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", api::encode_meta({.key = job.meta.key,
                                         .labels = {{kResNameLabel, job.meta.key.name},
                                                    {kJobNameLabel, job.meta.key.name}},
                                         .owners = {owner_reference(job)}})},
          {"data", data}};
}

}  // namespace paddle::controllers
