// SPDX-License-Identifier: Apache-2.0
#include "api/core/pod.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "api/phases.h"

namespace paddle::api {
namespace {

int number(const Json& object, const char* key) {
  return static_cast<int>(
      std::clamp<std::int64_t>(look_integer(object, key), -1'000'000'000, 1'000'000'000));
}

PodPhase phase_of(const std::string& name) {
  if (name == pod_phase::kRunning) return PodPhase::kRunning;
  if (name == pod_phase::kSucceeded) return PodPhase::kSucceeded;
  if (name == pod_phase::kFailed) return PodPhase::kFailed;
  if (name == pod_phase::kUnknown) return PodPhase::kUnknown;
  return PodPhase::kPending;
}

ContainerStatus container(const Json& from) {
  ContainerStatus out{.name = look_text(from, "name"),
                      .ready = look_flag(from, "ready"),
                      .restarts = number(from, "restartCount")};
  const Json& state = look(from, "state");
  if (state.is_object() && state.contains("running")) {
    out.state = ContainerStatus::State::kRunning;
  } else if (state.is_object() && state.contains("terminated")) {
    out.state = ContainerStatus::State::kTerminated;
    out.exit_code = number(look(state, "terminated"), "exitCode");
    out.reason = look_text(look(state, "terminated"), "reason");
    out.message = look_text(look(state, "terminated"), "message").substr(0, 1024);
    if (const auto ended = parse_rfc3339(look_text(look(state, "terminated"), "finishedAt"))) {
      out.ended = *ended;
    }
  } else {
    out.reason = look_text(look(state, "waiting"), "reason");
    // Other messages repeat the reason, and change with each attempt.
    if (out.reason == "CreateContainerConfigError" || out.reason == "CreateContainerError") {
      out.message = look_text(look(state, "waiting"), "message").substr(0, 1024);
    }
  }
  if (const Json& last = look(look(from, "lastState"), "terminated"); last.is_object()) {
    out.last_exit_code = number(last, "exitCode");
    out.last_reason = look_text(last, "reason");
  }
  return out;
}

std::vector<ContainerStatus> containers(const Json& list) {
  std::vector<ContainerStatus> out;
  if (!list.is_array()) return out;
  for (const Json& item : list) out.push_back(container(item));
  return out;
}

void read_condition(const Json& condition, Pod& pod) {
  const std::string type = look_text(condition, "type"), status = look_text(condition, "status");
  if (type == "DisruptionTarget" && status == "True") pod.disrupted = true;
  if (type == "PodScheduled" && status == "False" &&
      look_text(condition, "reason") == "Unschedulable") {
    pod.unschedulable = look_text(condition, "message");
  }
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
  const Json& status = look(object, "status");
  Pod pod{.meta = std::move(meta),
          .phase = phase_of(look_text(status, "phase")),
          .reason = look_text(status, "reason"),
          .message = look_text(status, "message"),
          .ip = look_text(status, "podIP"),
          .host_ip = look_text(status, "hostIP"),
          .node = look_text(look(object, "spec"), "nodeName"),
          .active_deadline_seconds = look_integer(look(object, "spec"), "activeDeadlineSeconds"),
          .init_containers = containers(look(status, "initContainerStatuses")),
          .containers = containers(look(status, "containerStatuses"))};
  if (const Json& gates = look(look(object, "spec"), "schedulingGates"); gates.is_array()) {
    for (const Json& gate : gates) pod.gates.push_back(look_text(gate, "name"));
  }
  if (const Json& conditions = look(status, "conditions"); conditions.is_array()) {
    for (const Json& condition : conditions) read_condition(condition, pod);
  }
  return pod;
}

}  // namespace paddle::api
