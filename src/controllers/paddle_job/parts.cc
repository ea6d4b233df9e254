// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/parts.h"

namespace paddle::controllers {

std::vector<Part> parts_of(const api::PaddleJobSpec& spec) {
  std::vector<Part> parts;
  for (const RoleKind kind : kRoles) {
    const auto& role = role_of(spec, kind);
    if (role) parts.push_back({kind, role->replicas, role->pod_template});
  }
  return parts;
}

}  // namespace paddle::controllers
