// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/objects/coordinator.h"

#include <nlohmann/json.hpp>

#include "api/json/json_list.h"
#include "controllers/paddle_job/names.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::Json;

constexpr const char* kVolume = "paddle-coord";
constexpr const char* kPath = "/paddle-coord";

// Only a POSIX shell and `sleep` are asked for. The trap lets a waiting pod be deleted at once:
// the first process of a container ignores SIGTERM otherwise. `read` fails at a missing newline and
// sets the variable all the same.
constexpr const char* kWaitScript =
    "trap 'exit 143' TERM INT; said=; "
    "until [ \"$said\" = \"$PADDLE_RELEASE_EPOCH/$POD_IP\" ]; do "
    "sleep 0.1 2>/dev/null || sleep 1; "
    "{ read -r said </paddle-coord/release; } 2>/dev/null; "
    "done; exit 0";

Json volume() {
  const std::string field = std::string("metadata.annotations['") + kReleaseAnnotation + "']";
  return {{"name", kVolume},
          {"downwardAPI",
           {{"items",
             Json::array({Json{{"path", "release"}, {"fieldRef", {{"fieldPath", field}}}}})}}}};
}

}  // namespace

void add_coordinator(Json& pod_spec, const Json& training_container, const api::PaddleJob& job,
                     const std::string& image) {
  // Requests equal limits, so that a pod which is Guaranteed without it stays so.
  const Json amounts = {{"cpu", "50m"}, {"memory", "64Mi"}};
  Json coord = {
      {"name", kCoordinator},
      {"command", Json::array({"/bin/sh", "-c", kWaitScript})},
      {"env", Json::array({Json{{"name", "PADDLE_RELEASE_EPOCH"},
                                {"value", std::to_string(job.status.epoch)}},
                           Json{{"name", "POD_IP"},
                                {"valueFrom", {{"fieldRef", {{"fieldPath", "status.podIP"}}}}}}})},
      {"resources", {{"requests", amounts}, {"limits", amounts}}},
      {"volumeMounts",
       Json::array({Json{{"name", kVolume}, {"mountPath", kPath}, {"readOnly", true}}})}};
  for (const char* key : {"image", "imagePullPolicy", "securityContext"}) {
    if (training_container.contains(key)) coord[key] = training_container[key];
  }
  if (!image.empty()) {
    coord["image"] = image;
    coord["imagePullPolicy"] = "IfNotPresent";
  }
  api::list_in(pod_spec, "initContainers").push_back(std::move(coord));
  api::list_in(pod_spec, "volumes").push_back(volume());
}

std::string release_value(const api::PaddleJob& job, const std::string& address) {
  return std::to_string(job.status.epoch) + "/" + address;
}

}  // namespace paddle::controllers::paddle_job
