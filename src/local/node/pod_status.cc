// SPDX-License-Identifier: Apache-2.0
#include "local/node/pod_status.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace paddle::local {
namespace {

using api::Json;
using Is = ContainerState::Is;

ContainerState state_in(const std::map<std::string, ContainerState>& states,
                        const std::string& name) {
  const auto found = states.find(name);
  return found == states.end() ? ContainerState{} : found->second;
}

Json ended_json(const Ended& ended) {
  Json out = {{"exitCode", ended.exit_code},
              {"reason", ended.reason},
              {"startedAt", rfc3339(ended.started)},
              {"finishedAt", rfc3339(ended.finished)}};
  if (!ended.message.empty()) out["message"] = ended.message;
  return out;
}

Json container_json(const Container& container, const ContainerState& state, bool init) {
  Json out = {{"name", container.name},
              {"image", container.image},
              {"imageID", ""},
              {"restartCount", state.restarts},
              {"started", state.is == Is::kRunning},
              {"lastState", Json::object()}};
  switch (state.is) {
    case Is::kWaiting:
      out["state"]["waiting"] = {{"reason", state.reason}};
      if (!state.message.empty()) out["state"]["waiting"]["message"] = state.message;
      if (state.ended) out["lastState"]["terminated"] = ended_json(*state.ended);
      break;
    case Is::kRunning:
      out["state"]["running"] = {{"startedAt", rfc3339(state.started)}};
      if (state.ended) out["lastState"]["terminated"] = ended_json(*state.ended);
      break;
    case Is::kEnded:
      out["state"]["terminated"] = ended_json(*state.ended);
      break;
  }
  const bool done = state.is == Is::kEnded && state.ended->exit_code == 0;
  out["ready"] = init ? done : state.is == Is::kRunning;
  return out;
}

bool init_done(const PodSpec& pod, const PodState& state) {
  return std::ranges::all_of(pod.init, [&](const Container& c) {
    const auto s = state_in(state.init, c.name);
    return s.is == Is::kEnded && s.ended->exit_code == 0;
  });
}

bool all_running(const PodSpec& pod, const PodState& state) {
  return std::ranges::all_of(pod.containers, [&](const Container& c) {
    return state_in(state.containers, c.name).is == Is::kRunning;
  });
}

Json condition(const char* type, bool holds, const std::string& since) {
  return {{"type", type}, {"status", holds ? "True" : "False"}, {"lastTransitionTime", since}};
}

}  // namespace

bool starts_again(RestartPolicy policy, const Ended& ended, bool init) {
  if (init && ended.exit_code == 0) return false;
  switch (policy) {
    case RestartPolicy::kAlways:
      return true;
    case RestartPolicy::kOnFailure:
      return ended.exit_code != 0;
    case RestartPolicy::kNever:
      return false;
  }
  return false;
}

std::string phase_of(const PodSpec& pod, const PodState& state) {
  if (!state.failed_reason.empty()) return "Failed";
  for (const Container& c : pod.init) {
    const auto s = state_in(state.init, c.name);
    const bool failed = s.is == Is::kEnded && s.ended->exit_code != 0;
    if (failed && !starts_again(pod.restart, *s.ended, true)) return "Failed";
  }
  if (!init_done(pod, state)) return "Pending";

  bool all_over = true;
  bool all_good = true;
  bool any_seen = false;
  for (const Container& c : pod.containers) {
    const auto s = state_in(state.containers, c.name);
    any_seen = any_seen || s.is != Is::kWaiting || s.ended.has_value();
    const bool over = s.is == Is::kEnded && !starts_again(pod.restart, *s.ended, false);
    all_over = all_over && over;
    all_good = all_good && over && s.ended->exit_code == 0;
  }
  if (all_over) return all_good ? "Succeeded" : "Failed";
  return any_seen ? "Running" : "Pending";
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
  const bool ready = phase == "Running" && all_running(pod, state);
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
