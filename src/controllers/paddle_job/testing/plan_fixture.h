// SPDX-License-Identifier: Apache-2.0
//
// Jobs, pods, worlds and plans for tests of the plan and its decisions.

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
inline constexpr auto kPs = RoleKind::kPs;
inline constexpr auto kWorker = RoleKind::kWorker;
inline constexpr auto kHeter = RoleKind::kHeter;

// `spec` as JSON. A role without a template gets one with a container.
api::PaddleJob job_with(const std::string& spec, const std::string& name = "demo");
api::PaddleJob workers(int count, const char* more = "{}");
// 2 servers and 2 workers, as in the examples of the contract.
api::PaddleJob ps_job(const char* more = "{}");
api::PaddleJob with_port(api::PaddleJob job, int port);

// 10.0.<role>.<index + 1>; of a task, the index is that among all pods of its kind.
std::string ip_of(RoleKind kind, int index);
api::Pod pending(const api::PaddleJob& job, RoleKind kind, int index);
api::Pod coordinated(const api::PaddleJob& job, RoleKind kind, int index);
api::Pod running(const api::PaddleJob& job, RoleKind kind, int index);
api::Pod exited(const api::PaddleJob& job, RoleKind kind, int index, int exit_code);
api::Pod evicted(const api::PaddleJob& job, RoleKind kind, int index);
// Its program has failed `restarts` + 1 times, and its kubelet waits before it starts it again.
api::Pod crash_looping(const api::PaddleJob& job, RoleKind kind, int index, int restarts);
// As the operator creates it now: with the hash of its template.
api::Pod with_hash(const api::PaddleJob& job, api::Pod pod);
std::vector<api::Pod> with_hashes(const api::PaddleJob& job, std::vector<api::Pod> pods);

using MakePod = api::Pod (*)(const api::PaddleJob&, RoleKind, int);
std::vector<api::Pod> all_of(const api::PaddleJob& job, MakePod make);
std::vector<api::Pod> pods_of_task(const api::PaddleJob& job, const std::string& task,
                                   MakePod make);

World world_of(std::vector<api::Pod> pods);
// With the ConfigMap of the job's epoch.
World published(const api::PaddleJob& job, std::vector<api::Pod> pods);
// The data of the ConfigMap when all pods run.
PeerData data_of(const api::PaddleJob& job);

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
// The manifest of an object that the plan creates; null: it creates none of this name.
api::Json manifest_of(const Plan& plan, const std::string& name, OwnedKind kind = OwnedKind::kPod);
std::vector<std::string> created(const Plan& plan, OwnedKind kind = OwnedKind::kPod);
std::vector<std::string> deleted(const Plan& plan, OwnedKind kind = OwnedKind::kPod);
std::vector<std::string> released(const Plan& plan);
std::vector<std::string> stopped(const Plan& plan);  // pods that end and keep their logs
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
