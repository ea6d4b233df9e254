// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/objects/service.h"

#include <nlohmann/json.hpp>

#include "controllers/paddle_job/objects/peer_config_map.h"
#include "controllers/paddle_job/owner.h"

namespace paddle::controllers::paddle_job {

api::Json service_for(const api::PaddleJob& job, const ReplicaGroup& group, int index) {
  using api::Json;
  const std::string name = pod_name(job, group, index);
  const int first = port_of(job);
  Json ports = Json::array();
  for (int i = 0; i < kPortsPerJob; ++i) {
    ports.push_back({{"name", "p-" + std::to_string(i)},
                     {"port", first + i},
                     {"targetPort", first + i},
                     {"protocol", "TCP"}});
  }
  return {{"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata", api::encode_meta({.key = {job.meta.key.ns, name},
                                         .labels = {{kResNameLabel, name},
                                                    {kResTypeLabel, to_string(group.kind)},
                                                    {kJobNameLabel, job.meta.key.name}},
                                         .owners = {owner_reference(job)}})},
          {"spec",
           {{"clusterIP", "None"},
            {"publishNotReadyAddresses", true},
            {"selector", {{kResNameLabel, name}}},
            {"ports", ports}}}};
}

}  // namespace paddle::controllers::paddle_job
