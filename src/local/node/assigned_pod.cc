// SPDX-License-Identifier: Apache-2.0
#include "local/node/assigned_pod.h"

#include <nlohmann/json.hpp>

#include "api/look.h"

namespace paddle::local {
namespace {

using api::Json;

int number(const Json& object, const char* key) {
  return static_cast<int>(api::look_integer(object, key));
}

void read_restarts(const Json& statuses, std::map<std::string, int>& into) {
  if (!statuses.is_array()) return;
  for (const Json& container : statuses) {
    const Json& state = api::look(container, "state");
    const bool started = api::look(state, "running").is_object() ||
                         api::look(state, "terminated").is_object() ||
                         api::look(api::look(container, "lastState"), "terminated").is_object();
    if (started) into[api::look_text(container, "name")] = number(container, "restartCount");
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
  const Json& status = api::look(object, "status");
  pod.phase = api::look_text(status, "phase");
  pod.begun = !api::look_text(status, "podIP").empty();
  read_restarts(api::look(status, "initContainerStatuses"), pod.restarts);
  read_restarts(api::look(status, "containerStatuses"), pod.restarts);
  if (pod.meta.deleting()) {
    pod.grace =
        std::chrono::seconds{number(api::look(object, "metadata"), "deletionGracePeriodSeconds")};
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
  const Json& old = api::look(before, "conditions");
  if (!old.is_array() || !api::look(status, "conditions").is_array()) return status;
  for (Json& condition : status["conditions"]) {
    for (const Json& earlier : old) {
      if (api::look_text(earlier, "type") != api::look_text(condition, "type")) continue;
      if (api::look_text(earlier, "status") == api::look_text(condition, "status")) {
        condition["lastTransitionTime"] = api::look(earlier, "lastTransitionTime");
      }
    }
  }
  return status;
}

}  // namespace paddle::local
