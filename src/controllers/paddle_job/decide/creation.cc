// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/creation.h"

#include <set>

#include <nlohmann/json.hpp>

#include "controllers/paddle_job/objects/peer_config_map.h"
#include "controllers/paddle_job/objects/pod.h"
#include "controllers/paddle_job/objects/service.h"

namespace paddle::controllers::paddle_job {

Wave create_missing(const api::PaddleJob& job, const PlanContext& context, const Config& config) {
  std::set<std::string> services;
  for (const ServiceSummary& service : context.world.services)
    services.insert(service.meta.key.name);

  Wave wave;
  for (const GroupSlots& group : context.slots.groups) {
    for (int i = 0; i < group.spec.replicas; ++i) {
      const api::ObjectKey key{job.meta.key.ns, pod_name(job, group.spec, i)};
      if (by_service(job.spec) && !services.contains(key.name)) {
        wave.emplace_back(Create{OwnedKind::kService, key, service_for(job, group.spec, i)});
      }
      if (group.done[static_cast<size_t>(i)]) continue;
      if (context.slots.names_in_use.contains(key.name)) continue;
      wave.emplace_back(
          Create{OwnedKind::kPod, key, pod_for(job, group.spec, i, context.world.data, config)});
    }
  }
  return wave;
}

bool needs_confirmation(const api::PaddleJob& job, const PlanContext& context) {
  if (context.world.confirmed) return false;
  // The phase may be told a little later than the pods are released.
  return job.status.phase == "Running" || job.status.phase == "Starting" ||
         has_begun(job, context.slots, context.world);
}

}  // namespace paddle::controllers::paddle_job
