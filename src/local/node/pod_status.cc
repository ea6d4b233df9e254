// SPDX-License-Identifier: Apache-2.0
#include "local/node/pod_status.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/phases.h"

namespace paddle::local {
namespace {

using api::Json;
using Phase = ContainerState::Phase;

ContainerState state_in(const std::map<std::string, ContainerState>& states,
                        const std::string& name) {
  const auto found = states.find(name);
  return found == states.end() ? ContainerState{} : found->second;
}

Json terminated_json(const Terminated& terminated) {
  Json out = {{"exitCode", terminated.exit_code},
              {"reason", terminated.reason},
              {"startedAt", rfc3339(terminated.started)},
              {"finishedAt", rfc3339(terminated.finished)}};
  if (!terminated.message.empty()) out["message"] = terminated.message;
  return out;
}

Json container_json(const Container& container, const ContainerState& state, bool init) {
  Json out = {{"name", container.name},
              {"image", container.image},
              {"imageID", ""},
              {"restartCount", state.restarts},
              {"started", state.phase == Phase::kRunning},
              {"lastState", Json::object()}};
  switch (state.phase) {
    case Phase::kWaiting:
      out["state"]["waiting"] = {{"reason", state.reason}};
      if (!state.message.empty()) out["state"]["waiting"]["message"] = state.message;
      if (state.terminated) out["lastState"]["terminated"] = terminated_json(*state.terminated);
      break;
    case Phase::kRunning:
      out["state"]["running"] = {{"startedAt", rfc3339(state.started)}};
      if (state.terminated) out["lastState"]["terminated"] = terminated_json(*state.terminated);
      break;
    case Phase::kTerminated:
      out["state"]["terminated"] = terminated_json(*state.terminated);
      break;
  }
  const bool done = state.phase == Phase::kTerminated && state.terminated->exit_code == 0;
  out["ready"] = init ? done : state.phase == Phase::kRunning;
  return out;
}

bool init_done(const PodSpec& pod, const PodState& state) {
  return std::ranges::all_of(pod.init, [&](const Container& c) {
    const auto s = state_in(state.init, c.name);
    return s.phase == Phase::kTerminated && s.terminated->exit_code == 0;
  });
}

bool all_running(const PodSpec& pod, const PodState& state) {
  return std::ranges::all_of(pod.containers, [&](const Container& c) {
    return state_in(state.containers, c.name).phase == Phase::kRunning;
  });
}

Json condition(const char* type, bool holds, const std::string& since) {
  return {{"type", type}, {"status", holds ? "True" : "False"}, {"lastTransitionTime", since}};
}

}  // namespace

bool starts_again(RestartPolicy policy, const Terminated& terminated, bool init) {
  if (init && terminated.exit_code == 0) return false;
  switch (policy) {
    case RestartPolicy::kAlways:
      return true;
    case RestartPolicy::kOnFailure:
      return terminated.exit_code != 0;
    case RestartPolicy::kNever:
      return false;
  }
  return false;
}

std::string phase_of(const PodSpec& pod, const PodState& state) {
  if (!state.failed_reason.empty()) return api::pod_phase::kFailed;
  for (const Container& c : pod.init) {
    const auto s = state_in(state.init, c.name);
    const bool failed = s.phase == Phase::kTerminated && s.terminated->exit_code != 0;
    if (failed && !starts_again(pod.restart, *s.terminated, true)) return api::pod_phase::kFailed;
  }
  if (!init_done(pod, state)) return api::pod_phase::kPending;

  bool all_over = true;
  bool all_good = true;
  bool any_seen = false;
  for (const Container& c : pod.containers) {
    const auto s = state_in(state.containers, c.name);
    any_seen = any_seen || s.phase != Phase::kWaiting || s.terminated.has_value();
    const bool over =
        s.phase == Phase::kTerminated && !starts_again(pod.restart, *s.terminated, false);
    all_over = all_over && over;
    all_good = all_good && over && s.terminated->exit_code == 0;
  }
  if (all_over) return all_good ? api::pod_phase::kSucceeded : api::pod_phase::kFailed;
  return any_seen ? api::pod_phase::kRunning : api::pod_phase::kPending;
}

Json status_of(const PodSpec& pod, const PodState& state, WallTime now) {
  const std::string phase = phase_of(pod, state);
  const std::string since = rfc3339(now);
  Json out = {{"phase", phase}, {"hostIP", state.host_ip}, {"qosClass", "BestEffort"}};
  if (!state.ip.empty()) {
    out["podIP"] = state.ip;
    out["podIPs"] = Json::array({Json{{"ip", state.ip}}});
  }
  if (state.started) out["startTime"] = rfc3339(*state.started);
  if (!state.failed_reason.empty()) {
    out["reason"] = state.failed_reason;
    out["message"] = state.failed_message;
  }
  const bool ready = phase == api::pod_phase::kRunning && all_running(pod, state);
  out["conditions"] =
      Json::array({condition("PodScheduled", true, since),
                   condition("Initialized", init_done(pod, state), since),
                   condition("ContainersReady", ready, since), condition("Ready", ready, since)});
  for (const Container& c : pod.init) {
    out["initContainerStatuses"].push_back(container_json(c, state_in(state.init, c.name), true));
  }
  for (const Container& c : pod.containers) {
    out["containerStatuses"].push_back(
        container_json(c, state_in(state.containers, c.name), false));
  }
  return out;
}

}  // namespace paddle::local
