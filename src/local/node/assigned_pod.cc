// SPDX-License-Identifier: Apache-2.0
#include "local/node/assigned_pod.h"

#include <nlohmann/json.hpp>

namespace paddle::local {
namespace {

using api::Json;

const Json& at(const Json& object, const char* key) {
  static const Json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}

std::string text(const Json& object, const char* key) {
  const Json& value = at(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

int number(const Json& object, const char* key) {
  const Json& value = at(object, key);
  return value.is_number_integer() ? static_cast<int>(value.get<std::int64_t>()) : 0;
}

void read_restarts(const Json& statuses, std::map<std::string, int>& into) {
  if (!statuses.is_array()) return;
  for (const Json& container : statuses) {
    const Json& state = at(container, "state");
    const bool started = at(state, "running").is_object() || at(state, "terminated").is_object() ||
                         at(at(container, "lastState"), "terminated").is_object();
    if (started) into[text(container, "name")] = number(container, "restartCount");
  }
}

}  // namespace

Result<AssignedPod> decode_assigned_pod(const Json& object) {
  AssignedPod pod;
  TRY(pod.meta, api::decode_meta(object));
  if (auto spec = decode_pod_spec(object); spec) {
    pod.spec = *std::move(spec);
  } else {
    pod.refusal = spec.error().message;
  }
  const Json& status = at(object, "status");
  pod.phase = text(status, "phase");
  pod.begun = !text(status, "podIP").empty();
  read_restarts(at(status, "initContainerStatuses"), pod.restarts);
  read_restarts(at(status, "containerStatuses"), pod.restarts);
  if (pod.meta.deleting()) {
    pod.grace = std::chrono::seconds{number(at(object, "metadata"), "deletionGracePeriodSeconds")};
  }
  return pod;
}

Course course_of(const AssignedPod& pod) {
  if (pod.meta.deleting()) return Course::kFinish;
  if (pod.phase == "Succeeded" || pod.phase == "Failed") return Course::kLeave;
  if (!pod.spec) return Course::kRefuse;
  if (!pod.begun) return Course::kRun;
  const bool ran = !pod.restarts.empty();
  return ran && pod.spec->restart == RestartPolicy::kNever ? Course::kGiveUp : Course::kRunAgain;
}

std::map<std::string, int> restarts_after(const AssignedPod& pod) {
  auto counts = pod.restarts;
  for (auto& entry : counts) ++entry.second;
  return counts;
}

PodState failed_state(const AssignedPod& pod, Course course, WallTime now) {
  PodState state;
  if (course == Course::kRefuse) {
    state.failed_reason = "CannotRunHere";
    state.failed_message = pod.refusal;
    return state;
  }
  state.failed_reason = "NodeRestarted";
  state.failed_message =
      "the node was restarted while the pod ran, and its restartPolicy is Never: create it again";
  if (!pod.spec) return state;
  const Ended lost{.exit_code = 137, .reason = "NodeRestarted", .started = now, .finished = now};
  const ContainerState ended{.is = ContainerState::Is::kEnded, .ended = lost};
  for (const Container& c : pod.spec->containers) state.containers[c.name] = ended;
  for (const Container& c : pod.spec->init) state.init[c.name] = ended;
  for (auto* containers : {&state.containers, &state.init}) {
    for (auto& [name, container] : *containers) {
      if (const auto before = pod.restarts.find(name); before != pod.restarts.end()) {
        container.restarts = before->second;
      }
    }
  }
  return state;
}

Json keep_transition_times(Json status, const Json& before) {
  const Json& old = at(before, "conditions");
  if (!old.is_array() || !at(status, "conditions").is_array()) return status;
  for (Json& condition : status["conditions"]) {
    for (const Json& earlier : old) {
      if (text(earlier, "type") != text(condition, "type")) continue;
      if (text(earlier, "status") == text(condition, "status")) {
        condition["lastTransitionTime"] = at(earlier, "lastTransitionTime");
      }
    }
  }
  return status;
}

}  // namespace paddle::local
