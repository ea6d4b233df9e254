// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/roster.h"

#include <algorithm>

namespace paddle::controllers {
namespace {

using api::PodPhase;

template <typename Holds>
bool all_pods(const Roster& roster, Holds holds) {
  return std::ranges::all_of(roster.slots, [&](const auto& role) {
    return std::ranges::all_of(role.second,
                               [&](const api::Pod* pod) { return pod && holds(*pod); });
  });
}

bool coordinating(const api::Pod& pod) {
  return std::ranges::any_of(pod.init_containers, [](const api::ContainerStatus& c) {
    return c.name == kCoordinator && c.state == api::ContainerStatus::State::kRunning;
  });
}

api::ObjectReference reference(const api::Pod& pod) {
  return {.api_version = "v1",
          .kind = "Pod",
          .ns = pod.meta.key.ns,
          .name = pod.meta.key.name,
          .uid = pod.meta.uid};
}

}  // namespace

Roster seat(const api::PaddleJob& job, const std::vector<api::Pod>& pods) {
  std::map<std::string, const api::Pod*> by_name;
  for (const auto& pod : pods) by_name[pod.meta.key.name] = &pod;
  Roster roster;
  for (const RoleKind kind : kRoles) {
    auto& slots = roster.slots[kind];
    for (int index = 0; index < replicas_of(job.spec, kind); ++index) {
      auto seated = by_name.extract(pod_name(job, kind, index));
      slots.push_back(seated ? seated.mapped() : nullptr);
    }
  }
  for (const auto& [name, pod] : by_name) roster.surplus.push_back(pod);
  return roster;
}

int missing(const Roster& roster) {
  std::ptrdiff_t count = 0;
  for (const auto& [kind, slots] : roster.slots) count += std::ranges::count(slots, nullptr);
  return static_cast<int>(count);
}

int without_address(const Roster& roster) {
  std::ptrdiff_t count = 0;
  for (const auto& [kind, slots] : roster.slots) {
    count += std::ranges::count_if(
        slots, [](const api::Pod* pod) { return !pod || pod->ip.empty() || pod->meta.deleting(); });
  }
  return static_cast<int>(count);
}

Addresses addresses(const Roster& roster) {
  Addresses out;
  for (const auto& [kind, slots] : roster.slots) {
    auto& list = out[kind];
    for (const api::Pod* pod : slots) list.push_back(pod ? pod->ip : std::string());
  }
  return out;
}

api::RoleStatus count(const std::vector<const api::Pod*>& slots) {
  api::RoleStatus status;
  for (const api::Pod* pod : slots) {
    if (!pod) continue;
    status.refs.push_back(reference(*pod));
    switch (pod->phase) {
      case PodPhase::kPending:
        ++(coordinating(*pod) ? status.starting : status.pending);
        break;
      case PodPhase::kRunning:
        ++(pod->all_ready() ? status.running : status.starting);
        break;
      case PodPhase::kSucceeded:
        ++status.succeeded;
        break;
      case PodPhase::kFailed:
        ++status.failed;
        break;
      case PodPhase::kUnknown:
        ++status.unknown;
        break;
    }
  }
  return status;
}

bool any_failed(const Roster& roster) {
  return std::ranges::any_of(roster.slots, [](const auto& role) {
    return std::ranges::any_of(
        role.second, [](const api::Pod* pod) { return pod && pod->phase == PodPhase::kFailed; });
  });
}

bool work_done(const Roster& roster) {
  const auto succeeded = [](const api::Pod& pod) { return pod.phase == PodPhase::kSucceeded; };
  const auto& workers = roster.slots.at(RoleKind::kWorker);
  if (workers.empty()) return all_pods(roster, succeeded);
  return std::ranges::all_of(workers, [&](const api::Pod* pod) { return pod && succeeded(*pod); });
}

bool all_started(const Roster& roster) {
  return all_pods(roster, [](const api::Pod& pod) {
    return (pod.phase == PodPhase::kRunning && pod.all_ready()) ||
           pod.phase == PodPhase::kSucceeded;
  });
}

}  // namespace paddle::controllers
