// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/names.h"

namespace paddle::controllers {

std::string to_string(RoleKind kind) {
  switch (kind) {
    case RoleKind::kPs:
      return "ps";
    case RoleKind::kWorker:
      return "worker";
    case RoleKind::kHeter:
      return "heter";
  }
  return "worker";
}

std::string training_role(RoleKind kind) {
  switch (kind) {
    case RoleKind::kPs:
      return "PSERVER";
    case RoleKind::kWorker:
      return "TRAINER";
    case RoleKind::kHeter:
      return "HETER_TRAINER";
  }
  return "TRAINER";
}

std::string old_training_role(RoleKind kind) {
  return kind == RoleKind::kHeter ? "HETER" : training_role(kind);
}

const std::optional<api::Role>& role_of(const api::PaddleJobSpec& spec, RoleKind kind) {
  switch (kind) {
    case RoleKind::kPs:
      return spec.ps;
    case RoleKind::kWorker:
      return spec.worker;
    case RoleKind::kHeter:
      return spec.heter;
  }
  return spec.worker;
}

std::optional<api::RoleStatus>& status_of(api::PaddleJobStatus& status, RoleKind kind) {
  switch (kind) {
    case RoleKind::kPs:
      return status.ps;
    case RoleKind::kWorker:
      return status.worker;
    case RoleKind::kHeter:
      return status.heter;
  }
  return status.worker;
}

int replicas_of(const api::PaddleJobSpec& spec, RoleKind kind) {
  const auto& role = role_of(spec, kind);
  return role ? role->replicas : 0;
}

int total_replicas(const api::PaddleJobSpec& spec) {
  int total = 0;
  for (const RoleKind kind : kRoles) total += replicas_of(spec, kind);
  return total;
}

std::string pod_name(const api::PaddleJob& job, RoleKind kind, int index) {
  return job.meta.key.name + "-" + to_string(kind) + "-" + std::to_string(index);
}

std::string mode_of(const api::PaddleJobSpec& spec) {
  if (spec.ps) return "PS";
  return replicas_of(spec, RoleKind::kWorker) > 1 ? "Collective" : "Single";
}

}  // namespace paddle::controllers
