// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/names.h"

namespace paddle::controllers::paddle_job {

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

std::optional<api::RoleStatus>& status_of(api::PaddleJobStatus& status, RoleKind role) {
  if (role == RoleKind::kPs) return status.ps;
  return role == RoleKind::kHeter ? status.heter : status.worker;
}

std::string pod_name(const api::PaddleJob& job, RoleKind role, int index) {
  return job.meta.key.name + "-" + to_string(role) + "-" + std::to_string(index);
}

}  // namespace paddle::controllers::paddle_job
