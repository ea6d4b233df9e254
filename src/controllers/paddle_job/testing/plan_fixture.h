// SPDX-License-Identifier: Apache-2.0
//
// Jobs, pods and plans in few words, for tests of the plan.

#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/paddle_job/decide/start_barrier.h"
#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/objects/peer_config_map.h"
#include "controllers/paddle_job/plan.h"

namespace paddle::controllers::paddle_job {

inline const WallTime kNow{std::chrono::seconds{1'800'000'000}};

// `spec` as YAML users write it, in JSON. A role without a template gets one with a container.
api::PaddleJob job_with(const std::string& spec, const std::string& name = "wad");
api::PaddleJob workers(int count, const char* more = "{}");
// The contract's vector: 2 servers, 2 workers.
api::PaddleJob ps_job(const char* more = "{}");

// Its address is 10.0.<role>.<index + 1>.
std::string ip_of(RoleKind kind, int index);
api::Pod pending(const api::PaddleJob& job, RoleKind kind, int index);
api::Pod coordinated(const api::PaddleJob& job, RoleKind kind, int index);
api::Pod running(const api::PaddleJob& job, RoleKind kind, int index);
api::Pod exited(const api::PaddleJob& job, RoleKind kind, int index, int exit_code);
api::Pod evicted(const api::PaddleJob& job, RoleKind kind, int index);

World world_of(std::vector<api::Pod> pods);
// With the ConfigMap that the job's epoch has.
World published(const api::PaddleJob& job, std::vector<api::Pod> pods);
std::vector<api::Pod> all_of(const api::PaddleJob& job,
                             api::Pod (*make)(const api::PaddleJob&, RoleKind, int));

template <typename T>
std::vector<T> only(const Plan& plan) {
  std::vector<T> found;
  for (const Wave& wave : plan.waves) {
    for (const Action& action : wave) {
      if (auto* wanted = std::get_if<T>(&action)) found.push_back(*wanted);
    }
  }
  return found;
}
std::vector<std::string> created(const Plan& plan, OwnedKind kind = OwnedKind::kPod);
std::vector<std::string> deleted(const Plan& plan, OwnedKind kind = OwnedKind::kPod);
std::vector<std::string> released(const Plan& plan);
// The status is stored before anything else happens, and a plan is made again.
bool stores_first(const Plan& plan);
bool confirms_pods(const Plan& plan);
std::set<std::string> leases_read(const Plan& plan);  // names of nodes
bool reads_etcd(const Plan& plan);
Plan plan_for(const api::PaddleJob& job, const World& world, const Config& config = {},
              WallTime now = kNow);
api::PaddleJobStatus status_after(const api::PaddleJob& job, const World& world,
                                  const Config& config = {}, WallTime now = kNow);
std::string reason(const api::PaddleJobStatus& status, const char* type = "Ready");

using Names = std::vector<std::string>;

}  // namespace paddle::controllers::paddle_job
