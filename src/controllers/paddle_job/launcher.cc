// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/launcher.h"

#include <nlohmann/json.hpp>

#include "controllers/paddle_job/host_ports.h"
#include "controllers/paddle_job/rendezvous.h"

namespace paddle::controllers {
namespace {

using api::Json;

constexpr const char* kOwnAddress = "PADDLE_OWN_IP";

// $(...) is filled in by the kubelet.
std::string endpoints_of_first(const api::PaddleJob& job) {
  const std::string port = ":" + std::to_string(port_of(job));
  std::string out = "$(" + std::string(kOwnAddress) + ")" + port;
  for (const Part& part : parts_of(job.spec)) {
    if (part.kind != RoleKind::kWorker) continue;
    for (int i = part.first.of_kind == 0 ? 1 : 0; i < part.replicas; ++i) {
      out += "," + pod_name(job, part, i) + port;
    }
  }
  return out;
}

}  // namespace

void tell_launcher(Json& env, const api::PaddleJob& job, const Part& part, int index, bool ipv6) {
  const bool rank_0 = part.kind == RoleKind::kWorker && part.first.of_kind + index == 0 &&
                      !has_servers(job.spec) && !each_for_itself(job.spec);
  if (by_service(job.spec) && !ipv6 && rank_0) {
    env.push_back(
        {{"name", kOwnAddress}, {"valueFrom", {{"fieldRef", {{"fieldPath", "status.podIP"}}}}}});
    env.push_back({{"name", "PADDLE_TRAINER_ENDPOINTS"}, {"value", endpoints_of_first(job)}});
  }
  if (on_host_network(job.spec)) {
    const int first = port_of(job);
    env.push_back(
        {{"name", "PORT_RANGE"},
         {"value", std::to_string(first + 1) + ":" + std::to_string(first + kGlooOffset - 1)}});
  }
}

}  // namespace paddle::controllers
