// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/creation.h"

#include <set>

#include <nlohmann/json.hpp>

#include "controllers/paddle_job/pods.h"
#include "controllers/paddle_job/rendezvous.h"
#include "controllers/paddle_job/services.h"

namespace paddle::controllers {

Wave create_missing(const api::PaddleJob& job, const Sight& sight, const Setting& setting) {
  std::set<std::string> services;
  for (const ServiceSeen& service : sight.world.services) services.insert(service.meta.key.name);

  Wave wave;
  for (const Bench& bench : sight.roster.benches) {
    for (int i = 0; i < bench.part.replicas; ++i) {
      const api::ObjectKey key{job.meta.key.ns, pod_name(job, bench.part, i)};
      if (by_service(job.spec) && !services.contains(key.name)) {
        wave.emplace_back(Create{Child::kService, key, service_for(job, bench.part, i)});
      }
      if (bench.done[static_cast<size_t>(i)]) continue;
      if (sight.roster.names_in_use.contains(key.name)) continue;
      wave.emplace_back(
          Create{Child::kPod, key, pod_for(job, bench.part, i, sight.world.data, setting)});
    }
  }
  return wave;
}

bool needs_confirmation(const api::PaddleJob& job, const Sight& sight) {
  if (sight.world.confirmed) return false;
  // The phase may be told a little later than the pods are released.
  return job.status.phase == "Running" || job.status.phase == "Starting" ||
         has_begun(job, sight.roster, sight.world);
}

}  // namespace paddle::controllers
