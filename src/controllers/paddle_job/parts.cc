// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/parts.h"

#include <algorithm>
#include <map>

namespace paddle::controllers {
namespace {

RoleKind kind_of_task(const std::string& type, const std::string& mode) {
  if (mode != "PS") return RoleKind::kWorker;
  if (type == "PS") return RoleKind::kPs;
  if (type == "HETER") return RoleKind::kHeter;
  if (type == "DRIVER") return RoleKind::kDriver;
  return RoleKind::kWorker;
}

Part part_of(const api::Role& role, RoleKind kind, std::string name) {
  return {.kind = kind,
          .name = std::move(name),
          .replicas = role.replicas,
          .least = role.requests,
          .most = role.limits,
          .pod_template = role.pod_template,
          .restart_policy = role.restart_policy};
}

void number(std::vector<Part>& parts, bool lists) {
  std::map<RoleKind, int> of_kind;
  std::map<std::string, int> of_type;
  int place = 0;
  int all = 0;
  for (Part& part : parts) {
    part.place = place++;
    part.first = {.trainer = lists ? of_kind[part.kind] : 0,
                  .of_kind = of_kind[part.kind],
                  .of_type = of_type[part.type],
                  .of_job = all};
    const int count = std::max(part.replicas, 0);
    of_kind[part.kind] += count;
    of_type[part.type] += count;
    all += count;
  }
}

bool alone(const std::string& mode) { return mode == "Single" || mode == "Custom"; }

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

bool is_task(const Part& part) { return !part.type.empty(); }

std::vector<Part> parts_of(const api::PaddleJobSpec& spec) {
  std::vector<Part> parts;
  for (const RoleKind kind : kRoles) {
    if (const auto& role = role_of(spec, kind)) {
      parts.push_back(part_of(*role, kind, to_string(kind)));
    }
  }
  const std::string mode = mode_of_tasks(spec);
  for (const api::Task& task : spec.tasks) {
    const std::string type = api::task_type(task.name);
    parts.push_back(part_of(task, kind_of_task(type, mode), task.name));
    parts.back().type = type;
  }
  number(parts, spec.tasks.empty() || !alone(mode));
  return parts;
}

api::Role* role_of(api::PaddleJobSpec& spec, const Part& part) {
  if (is_task(part)) {
    const auto task = std::ranges::find(spec.tasks, part.name, &api::Task::name);
    return task == spec.tasks.end() ? nullptr : &*task;
  }
  auto& role = part.kind == RoleKind::kPs      ? spec.ps
               : part.kind == RoleKind::kHeter ? spec.heter
                                               : spec.worker;
  return role ? &*role : nullptr;
}

bool has_servers(const api::PaddleJobSpec& spec) {
  return std::ranges::any_of(parts_of(spec),
                             [](const Part& part) { return part.kind == RoleKind::kPs; });
}

int replicas_of(const api::PaddleJobSpec& spec, RoleKind kind) {
  int total = 0;
  for (const Part& part : parts_of(spec)) total += part.kind == kind ? part.replicas : 0;
  return total;
}

int total_replicas(const api::PaddleJobSpec& spec) {
  int total = 0;
  for (const Part& part : parts_of(spec)) total += part.replicas;
  return total;
}

std::string mode_of(const api::PaddleJobSpec& spec) {
  if (!spec.tasks.empty()) return mode_of_tasks(spec);
  if (spec.ps) return "PS";
  return replicas_of(spec, RoleKind::kWorker) > 1 ? "Collective" : "Single";
}

bool each_for_itself(const api::PaddleJobSpec& spec) {
  return !spec.tasks.empty() && alone(mode_of_tasks(spec));
}

std::string pod_name(const api::PaddleJob& job, const Part& part, int index) {
  return job.meta.key.name + "-" + part.name + "-" + std::to_string(index);
}

std::string training_role(const api::PaddleJobSpec& spec, const Part& part) {
  if (is_task(part) && each_for_itself(spec)) return part.type;
  switch (part.kind) {
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

std::string old_training_role(const api::PaddleJobSpec& spec, const Part& part) {
  return part.kind == RoleKind::kHeter ? "HETER" : training_role(spec, part);
}

}  // namespace paddle::controllers
