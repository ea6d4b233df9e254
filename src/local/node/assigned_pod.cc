// SPDX-License-Identifier: Apache-2.0
#include "local/node/assigned_pod.h"

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "api/phases.h"

namespace paddle::local {
namespace {

using api::Json;

int number(const Json& object, const char* key) {
  return static_cast<int>(api::look_integer(object, key));
}

WallTime time_of(const Json& object, const char* key) {
  const auto time = parse_rfc3339(api::look_text(object, key));
  return time ? *time : WallTime{};
}

Terminated read_terminated(const Json& terminated) {
  return {.exit_code = number(terminated, "exitCode"),
          .reason = api::look_text(terminated, "reason"),
          .message = api::look_text(terminated, "message"),
          .started = time_of(terminated, "startedAt"),
          .finished = time_of(terminated, "finishedAt")};
}

void read_containers(const Json& statuses, AssignedPod& into) {
  if (!statuses.is_array()) return;
  for (const Json& container : statuses) {
    const std::string name = api::look_text(container, "name");
    const Json& state = api::look(container, "state");
    const Json& ended = api::look(state, "terminated");
    const bool started = api::look(state, "running").is_object() || ended.is_object() ||
                         api::look(api::look(container, "lastState"), "terminated").is_object();
    if (started) into.restarts[name] = number(container, "restartCount");
    if (ended.is_object()) into.terminated[name] = read_terminated(ended);
  }
}

}  // namespace

Result<AssignedPod> decode_assigned_pod(const Json& object) {
  AssignedPod pod;
  TRY(pod.meta, api::decode_meta(object));
  if (auto spec = decode_pod_spec(object); spec) {
    pod.spec = *std::move(spec);
  } else {
    pod.rejection = spec.error().message;
  }
  const Json& status = api::look(object, "status");
  pod.phase = api::look_text(status, "phase");
  if (const int deadline = number(api::look(object, "spec"), "activeDeadlineSeconds");
      deadline > 0) {
    pod.active_deadline = std::chrono::seconds{deadline};
  }
  pod.ip = api::look_text(status, "podIP");
  read_containers(api::look(status, "initContainerStatuses"), pod);
  read_containers(api::look(status, "containerStatuses"), pod);
  if (pod.meta.deleting()) {
    pod.grace =
        std::chrono::seconds{number(api::look(object, "metadata"), "deletionGracePeriodSeconds")};
  }
  return pod;
}

PodAction decide_action(const AssignedPod& pod) {
  if (pod.meta.deleting()) return PodAction::kFinish;
  if (api::pod_phase::is_final(pod.phase)) return PodAction::kIgnore;
  if (!pod.spec) return PodAction::kReject;
  if (pod.ip.empty()) return PodAction::kRun;  // it never had an address
  const bool ran = !pod.restarts.empty();
  return ran && pod.spec->restart == RestartPolicy::kNever ? PodAction::kMarkFailed
                                                           : PodAction::kRunAgain;
}

std::map<std::string, int> restarts_after(const AssignedPod& pod) {
  auto counts = pod.restarts;
  for (auto& entry : counts) ++entry.second;
  return counts;
}

bool deadline_passed(const AssignedPod& pod, std::optional<WallTime> started, WallTime now) {
  return pod.active_deadline && started && now >= *started + *pod.active_deadline;
}

PodState exceeded_state(PodState state) {
  if (!state.failed_reason.empty()) return state;
  state.failed_reason = "DeadlineExceeded";
  state.failed_message = "Pod was active on the node longer than the specified deadline";
  return state;
}

PodState failed_state(const AssignedPod& pod, PodAction action, WallTime now) {
  PodState state;
  if (action == PodAction::kReject) {
    state.failed_reason = "CannotRunHere";
    state.failed_message = pod.rejection;
    return state;
  }
  state.failed_reason = "NodeRestarted";
  state.failed_message =
      "the node was restarted while the pod ran, and its restartPolicy is Never: create it again";
  if (!pod.spec) return state;
  const Terminated lost{.exit_code = 137,
                        .reason = "ContainerStatusUnknown",
                        .message = "the node was restarted, and the container's end was not seen",
                        .started = now,
                        .finished = now};
  const auto last_state = [&](const Container& c) {
    const auto seen = pod.terminated.find(c.name);
    const auto before = pod.restarts.find(c.name);
    return ContainerState{.phase = ContainerState::Phase::kTerminated,
                          .terminated = seen == pod.terminated.end() ? lost : seen->second,
                          .restarts = before == pod.restarts.end() ? 0 : before->second};
  };
  for (const Container& c : pod.spec->containers) state.containers[c.name] = last_state(c);
  for (const Container& c : pod.spec->init) state.init[c.name] = last_state(c);
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
