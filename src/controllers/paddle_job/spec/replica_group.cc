// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/spec/replica_group.h"

#include <algorithm>
#include <map>

namespace paddle::controllers::paddle_job {
namespace {

RoleKind kind_of_task(const std::string& type, const std::string& mode) {
  if (mode != "PS") return RoleKind::kWorker;
  if (type == "PS") return RoleKind::kPs;
  if (type == "HETER") return RoleKind::kHeter;
  if (type == "DRIVER") return RoleKind::kDriver;
  return RoleKind::kWorker;
}

ReplicaGroup group_of(const api::Role& role, RoleKind kind, std::string name) {
  return {.kind = kind,
          .name = std::move(name),
          .replicas = role.replicas,
          .min_replicas = role.requests,
          .max_replicas = role.limits,
          .pod_template = role.pod_template,
          .restart_policy = role.restart_policy};
}

void set_ranks(std::vector<ReplicaGroup>& groups, bool lists) {
  std::map<RoleKind, int> of_kind;
  std::map<std::string, int> of_type;
  int position = 0;
  int all = 0;
  for (ReplicaGroup& group : groups) {
    group.position = position++;
    group.first = {.trainer = lists ? of_kind[group.kind] : 0,
                   .of_kind = of_kind[group.kind],
                   .of_type = of_type[group.type],
                   .of_job = all};
    const int count = std::max(group.replicas, 0);
    of_kind[group.kind] += count;
    of_type[group.type] += count;
    all += count;
  }
}

bool is_without_peers(const std::string& mode) { return mode == "Single" || mode == "Custom"; }

std::string mode_of_tasks(const api::PaddleJobSpec& spec) {
  if (!spec.mode.empty()) return spec.mode;
  int pods = 0;
  for (const api::Task& task : spec.tasks) {
    if (api::task_type(task.name) == "PS") return "PS";
    pods += std::max(task.replicas, 0);
  }
  return pods > 1 ? "Collective" : "Single";
}

const std::optional<api::Role>& role_of(const api::PaddleJobSpec& spec, RoleKind kind) {
  if (kind == RoleKind::kPs) return spec.ps;
  return kind == RoleKind::kHeter ? spec.heter : spec.worker;
}

}  // namespace

std::string to_string(RoleKind kind) {
  switch (kind) {
    case RoleKind::kPs:
      return "ps";
    case RoleKind::kWorker:
      return "worker";
    case RoleKind::kHeter:
      return "heter";
    case RoleKind::kDriver:
      return "driver";
  }
  return "";
}

std::optional<api::RoleStatus>& role_status(api::PaddleJobStatus& status, RoleKind role) {
  if (role == RoleKind::kPs) return status.ps;
  return role == RoleKind::kHeter ? status.heter : status.worker;
}

bool is_task(const ReplicaGroup& group) { return !group.type.empty(); }

std::vector<ReplicaGroup> replica_groups(const api::PaddleJobSpec& spec) {
  std::vector<ReplicaGroup> groups;
  for (const RoleKind kind : kRoles) {
    if (const auto& role = role_of(spec, kind)) {
      groups.push_back(group_of(*role, kind, to_string(kind)));
    }
  }
  const std::string mode = mode_of_tasks(spec);
  for (const api::Task& task : spec.tasks) {
    const std::string type = api::task_type(task.name);
    groups.push_back(group_of(task, kind_of_task(type, mode), task.name));
    groups.back().type = type;
  }
  set_ranks(groups, spec.tasks.empty() || !is_without_peers(mode));
  return groups;
}

api::Role* role_of(api::PaddleJobSpec& spec, const ReplicaGroup& group) {
  if (is_task(group)) {
    const auto task = std::ranges::find(spec.tasks, group.name, &api::Task::name);
    return task == spec.tasks.end() ? nullptr : &*task;
  }
  auto& role = group.kind == RoleKind::kPs      ? spec.ps
               : group.kind == RoleKind::kHeter ? spec.heter
                                                : spec.worker;
  return role ? &*role : nullptr;
}

bool has_servers(const api::PaddleJobSpec& spec) {
  return std::ranges::any_of(replica_groups(spec),
                             [](const ReplicaGroup& group) { return group.kind == RoleKind::kPs; });
}

int replicas_of(const api::PaddleJobSpec& spec, RoleKind kind) {
  int total = 0;
  for (const ReplicaGroup& group : replica_groups(spec)) {
    if (group.kind == kind) total += group.replicas;
  }
  return total;
}

int total_replicas(const api::PaddleJobSpec& spec) {
  int total = 0;
  for (const ReplicaGroup& group : replica_groups(spec)) total += group.replicas;
  return total;
}

std::string mode_of(const api::PaddleJobSpec& spec) {
  if (!spec.tasks.empty()) return mode_of_tasks(spec);
  if (spec.ps) return "PS";
  return replicas_of(spec, RoleKind::kWorker) > 1 ? "Collective" : "Single";
}

bool has_no_peers(const api::PaddleJobSpec& spec) {
  return !spec.tasks.empty() && is_without_peers(mode_of_tasks(spec));
}

bool uses_services(const api::PaddleJobSpec& spec) { return spec.intranet == "Service"; }
bool uses_host_network(const api::PaddleJobSpec& spec) { return spec.intranet == "Host"; }

std::string pod_name(const api::PaddleJob& job, const ReplicaGroup& group, int index) {
  return job.meta.key.name + "-" + group.name + "-" + std::to_string(index);
}

std::string pod_name(const api::PaddleJob& job, RoleKind role, int index) {
  return job.meta.key.name + "-" + to_string(role) + "-" + std::to_string(index);
}

std::string training_role(const api::PaddleJobSpec& spec, const ReplicaGroup& group) {
  if (is_task(group) && has_no_peers(spec)) return group.type;
  switch (group.kind) {
    case RoleKind::kPs:
      return "PSERVER";
    case RoleKind::kWorker:
      return "TRAINER";
    case RoleKind::kHeter:
      return "HETER_TRAINER";
    case RoleKind::kDriver:
      return "DRIVER";
  }
  return "";
}

std::string old_training_role(const api::PaddleJobSpec& spec, const ReplicaGroup& group) {
  return group.kind == RoleKind::kHeter ? "HETER" : training_role(spec, group);
}

}  // namespace paddle::controllers::paddle_job
