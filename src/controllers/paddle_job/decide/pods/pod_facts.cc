// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/pods/pod_facts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/reasons.h"
#include "controllers/placement/data_gate.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::PodPhase;
using State = api::ContainerStatus::State;

// status.reason of pods that their node rejected or lost, as kubelets and controllers write it.
constexpr std::array kDisruptionReasons{"Evicted",
                                        "NodeLost",
                                        "NodeShutdown",
                                        "Shutdown",
                                        "Terminated",
                                        "NodeAffinity",
                                        "NodeName",
                                        "Preempting",
                                        "Preempted",
                                        "OutOfcpu",
                                        "OutOfmemory",
                                        "OutOfpods",
                                        "OutOfdisk",
                                        "OutOfephemeral-storage",
                                        "HostPort",
                                        "TaintToleration",
                                        "TopologyAffinityError",
                                        "UnexpectedAdmissionError"};

// state.waiting.reason of containers that do not start without intervention. Transient reasons are
// left out: PodInitializing, ContainerCreating, and the first ErrImagePull.
constexpr std::array kStuckReasons{"ImagePullBackOff",     "InvalidImageName",
                                   "ErrImageNeverPull",    "ImageInspectError",
                                   "RegistryUnavailable",  "CreateContainerConfigError",
                                   "CreateContainerError", "RunContainerError"};

constexpr const char* kCrashLoop = "CrashLoopBackOff";

// state.terminated.reason of containers whose program did not run: they have no log.
constexpr std::array kNeverRanReasons{"StartError", "ContainerCannotRun"};

// Its exit was not observed: the node was rebooted. Kubelets report ContainerStatusUnknown,
// containerd Unknown with an exit code that no program's own exit has together with this reason.
bool is_unobserved(const std::string& reason, int exit_code) {
  return reason == "ContainerStatusUnknown" || (reason == "Unknown" && exit_code == 255);
}
bool exit_unobserved(const api::ContainerStatus& c) { return is_unobserved(c.reason, c.exit_code); }

// Its program has failed, and has not been started again.
bool is_down(const api::ContainerStatus& c) {
  if (c.state == State::kTerminated) return c.exit_code != 0 && !exit_unobserved(c);
  return c.state == State::kWaiting && c.reason == kCrashLoop;
}

int failures_in_place(const api::ContainerStatus& c) {
  const bool before = !c.last_reason.empty() &&
                      (c.last_exit_code == 0 || is_unobserved(c.last_reason, c.last_exit_code));
  return std::max(c.restarts - (before ? 1 : 0), 0) + (is_down(c) ? 1 : 0);
}

template <typename Each>
void each_container(const api::Pod& pod, Each each) {
  for (const auto* list : {&pod.init_containers, &pod.containers}) {
    for (const auto& c : *list) each(c);
  }
}

// A container of the pod was lost with its node, and no other container failed by itself.
bool lost_with_its_node(const api::Pod& pod) {
  bool lost = false;
  for (const auto* list : {&pod.init_containers, &pod.containers}) {
    for (const auto& c : *list) {
      if (c.state != State::kTerminated || c.exit_code == 0) continue;
      if (!exit_unobserved(c)) return false;
      lost = true;
    }
  }
  return lost;
}

template <typename List>
bool is_one_of(const List& list, std::string_view text) {
  return std::ranges::any_of(list, [&](std::string_view each) { return each == text; });
}

}  // namespace

std::int64_t epoch_of(const api::Meta& meta) {
  const auto found = meta.annotations.find(kEpochAnnotation);
  if (found == meta.annotations.end()) return 0;
  std::int64_t epoch = 0;
  const auto& text = found->second;
  std::from_chars(text.data(), text.data() + text.size(), epoch);
  return epoch;
}

bool ended(const api::Pod& pod) {
  return pod.phase == PodPhase::kSucceeded || pod.phase == PodPhase::kFailed;
}

bool is_running(const api::Pod& pod) { return pod.phase == PodPhase::kRunning && pod.all_ready(); }

bool has_started(const api::Pod& pod) {
  return is_running(pod) || pod.phase == PodPhase::kSucceeded;
}

bool is_working(const api::Pod& pod) {
  return pod.phase == PodPhase::kRunning &&
         std::ranges::all_of(pod.containers, [](const api::ContainerStatus& c) {
           return c.state == State::kRunning || (c.state == State::kTerminated && c.exit_code == 0);
         });
}

bool coordinating(const api::Pod& pod) {
  return std::ranges::any_of(pod.init_containers, [](const api::ContainerStatus& c) {
    return c.name == kCoordinator && c.state == State::kRunning;
  });
}

bool has_coordinator(const api::Pod& pod) {
  return std::ranges::find(pod.init_containers, kCoordinator, &api::ContainerStatus::name) !=
         pod.init_containers.end();
}

bool was_released(const api::Pod& pod) { return pod.meta.annotations.contains(kReleaseAnnotation); }

bool lost_released_address(const api::Pod& pod) {
  const auto found = pod.meta.annotations.find(kReleaseAnnotation);
  if (found == pod.meta.annotations.end() || ended(pod)) return false;
  const std::string& release = found->second;
  return release.substr(release.find('/') + 1) != pod.ip;
}

bool waits_for_release(const api::Pod& pod) {
  return !ended(pod) && std::ranges::none_of(pod.containers, [](const api::ContainerStatus& c) {
    return c.state == State::kRunning;
  });
}

bool waits_at_data_gate(const api::Pod& pod) {
  return !pod.meta.deleting() &&
         std::ranges::find(pod.gates, placement::kDataGate) != pod.gates.end();
}

bool failed(const api::Pod& pod) { return pod.phase == PodPhase::kFailed; }

bool failed_by_disruption(const api::Pod& pod) {
  if (!failed(pod)) return false;
  return pod.disrupted || is_one_of(kDisruptionReasons, pod.reason) || lost_with_its_node(pod);
}

bool is_leaving(const api::Pod& pod) { return pod.meta.deleting() || pod.disrupted; }

std::optional<WallTime> ended_at(const api::Pod& pod) {
  std::optional<WallTime> last;
  for (const auto* list : {&pod.init_containers, &pod.containers}) {
    for (const auto& c : *list) {
      if (c.ended && (!last || *c.ended > *last)) last = c.ended;
    }
  }
  return last;
}

std::optional<BlockReason> container_failure(const api::Pod& pod) {
  if (ended(pod)) return std::nullopt;
  for (const auto* list : {&pod.init_containers, &pod.containers}) {
    for (const auto& c : *list) {
      if (!is_down(c)) continue;
      const bool waits = c.state == State::kWaiting;
      const int exit_code = waits ? c.last_exit_code : c.exit_code;
      const std::string& cause = waits ? c.last_reason : c.reason;
      std::string text = "container " + c.name + " of pod " + pod.meta.key.name +
                         " ended with exit code " + std::to_string(exit_code);
      if (!cause.empty() && cause != "Error") text += " (" + cause + ")";
      if (c.restarts > 0) {
        text +=
            " after " + std::to_string(c.restarts) + (c.restarts == 1 ? " restart" : " restarts");
      }
      text += "; see kubectl logs " + pod.meta.key.name + " -c " + c.name;
      if (waits) text += " --previous";
      return BlockReason{waits ? kCrashLoop : reasons::kContainerFailed, std::move(text)};
    }
  }
  return std::nullopt;
}

int container_restarts(const api::Pod& pod) {
  int all = 0;
  each_container(pod, [&](const api::ContainerStatus& c) {
    if (c.name != kCoordinator) all += c.restarts;
  });
  return all;
}

int container_failures(const api::Pod& pod) {
  if (ended(pod)) return 0;
  int all = 0;
  for (const auto& c : pod.init_containers) {
    const bool done = c.state == State::kTerminated && c.exit_code == 0;
    if (!done) all += failures_in_place(c);
  }
  for (const auto& c : pod.containers) all += failures_in_place(c);
  return all;
}

std::optional<BlockReason> stuck_reason(const api::Pod& pod) {
  if (auto failure = container_failure(pod); failure && failure->reason == kCrashLoop) {
    return failure;
  }
  for (const auto* list : {&pod.init_containers, &pod.containers}) {
    for (const auto& c : *list) {
      if (c.state != State::kWaiting || !is_one_of(kStuckReasons, c.reason)) continue;
      return BlockReason{c.reason, "container " + c.name + " of pod " + pod.meta.key.name +
                                       " cannot start: " + c.reason +
                                       (c.message.empty() ? "" : ": " + c.message) +
                                       "; see kubectl describe pod " + pod.meta.key.name};
    }
  }
  if (pod.unschedulable.empty()) return std::nullopt;
  return BlockReason{reasons::kUnschedulable,
                     "pod " + pod.meta.key.name + " cannot be scheduled: " + pod.unschedulable};
}

std::string failure_message(const api::Pod& pod) {
  std::string text = "pod " + pod.meta.key.name + " failed";
  const api::ContainerStatus* unobserved = nullptr;
  for (const auto* list : {&pod.init_containers, &pod.containers}) {
    for (const auto& c : *list) {
      if (c.state != State::kTerminated || c.exit_code == 0) continue;
      if (exit_unobserved(c)) {
        if (!unobserved) unobserved = &c;
        continue;
      }
      text += ": container " + c.name + " ended with exit code " + std::to_string(c.exit_code);
      if (!c.reason.empty() && c.reason != "Error") text += " (" + c.reason + ")";
      if (c.name == kCoordinator) {
        return text + "; it needs /bin/sh and sleep in the job's image, or --initImage";
      }
      if (is_one_of(kNeverRanReasons, c.reason)) {  // its log is empty
        return text + (c.message.empty() ? "" : ": " + c.message);
      }
      return text + "; see kubectl logs " + pod.meta.key.name + " -c " + c.name;
    }
  }
  if (unobserved) {
    return text + ": its node was restarted while container " + unobserved->name + " ran";
  }
  if (!pod.reason.empty()) text += " (" + pod.reason + ")";
  return pod.message.empty() ? text : text + ": " + pod.message;
}

}  // namespace paddle::controllers::paddle_job
