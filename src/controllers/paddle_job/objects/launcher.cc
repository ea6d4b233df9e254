// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/objects/launcher.h"

#include <nlohmann/json.hpp>

#include "controllers/paddle_job/objects/peer_config_map.h"
#include "controllers/paddle_job/spec/host_ports.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::Json;

constexpr const char* kOwnAddress = "PADDLE_OWN_IP";

// $(...) is filled in by the kubelet.
std::string endpoints_of_first(const api::PaddleJob& job) {
  const std::string port = ":" + std::to_string(port_of(job));
  std::string out = "$(" + std::string(kOwnAddress) + ")" + port;
  for (const ReplicaGroup& group : replica_groups(job.spec)) {
    if (group.kind != RoleKind::kWorker) continue;
    for (int i = group.first.of_kind == 0 ? 1 : 0; i < group.replicas; ++i) {
      out += "," + pod_name(job, group, i) + port;
    }
  }
  return out;
}

}  // namespace

void add_launcher_env(Json& env, const api::PaddleJob& job, const ReplicaGroup& group, int index,
                      bool ipv6) {
  const bool rank_0 = group.kind == RoleKind::kWorker && group.first.of_kind + index == 0 &&
                      !has_servers(job.spec) && !has_no_peers(job.spec);
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

}  // namespace paddle::controllers::paddle_job
