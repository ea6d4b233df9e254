// SPDX-License-Identifier: Apache-2.0
#include "api/pod.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace paddle::api {
namespace {

const Json& part(const Json& object, const char* key) {
  static const Json kNothing = Json::object();
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

std::string text(const Json& object, const char* key) {
  const Json& found = part(object, key);
  return found.is_string() ? found.get<std::string>() : std::string();
}

bool flag(const Json& object, const char* key) {
  const Json& found = part(object, key);
  return found.is_boolean() && found.get<bool>();
}

int number(const Json& object, const char* key) {
  const Json& found = part(object, key);
  if (!found.is_number_integer()) return 0;
  const auto wide = found.get<std::int64_t>();
  return static_cast<int>(std::clamp<std::int64_t>(wide, -1'000'000'000, 1'000'000'000));
}

PodPhase phase_of(const std::string& name) {
  if (name == "Running") return PodPhase::kRunning;
  if (name == "Succeeded") return PodPhase::kSucceeded;
  if (name == "Failed") return PodPhase::kFailed;
  if (name == "Unknown") return PodPhase::kUnknown;
  return PodPhase::kPending;
}

ContainerStatus container(const Json& from) {
  ContainerStatus out{.name = text(from, "name"),
                      .ready = flag(from, "ready"),
                      .restarts = number(from, "restartCount")};
  const Json& state = part(from, "state");
  if (state.is_object() && state.contains("running")) {
    out.state = ContainerStatus::State::kRunning;
  } else if (state.is_object() && state.contains("terminated")) {
    out.state = ContainerStatus::State::kTerminated;
    out.exit_code = number(part(state, "terminated"), "exitCode");
    out.reason = text(part(state, "terminated"), "reason");
  } else {
    out.reason = text(part(state, "waiting"), "reason");
  }
  return out;
}

std::vector<ContainerStatus> containers(const Json& list) {
  std::vector<ContainerStatus> out;
  if (!list.is_array()) return out;
  for (const Json& item : list) out.push_back(container(item));
  return out;
}

}  // namespace

bool Pod::all_ready() const {
  using State = ContainerStatus::State;
  return !containers.empty() && std::ranges::all_of(init_containers, &ContainerStatus::ready) &&
         std::ranges::all_of(containers,
                             [](const auto& c) { return c.ready && c.state == State::kRunning; });
}

Result<Pod> decode_pod(const Json& object) {
  TRY(Meta meta, decode_meta(object));
  const Json& status = part(object, "status");
  Pod pod{.meta = std::move(meta),
          .phase = phase_of(text(status, "phase")),
          .reason = text(status, "reason"),
          .message = text(status, "message"),
          .ip = text(status, "podIP"),
          .host_ip = text(status, "hostIP"),
          .node = text(part(object, "spec"), "nodeName"),
          .init_containers = containers(part(status, "initContainerStatuses")),
          .containers = containers(part(status, "containerStatuses"))};
  const Json& conditions = part(status, "conditions");
  pod.disrupted = conditions.is_array() && std::ranges::any_of(conditions, [](const Json& c) {
                    return text(c, "type") == "DisruptionTarget" && text(c, "status") == "True";
                  });
  return pod;
}

}  // namespace paddle::api
