// SPDX-License-Identifier: Apache-2.0
//
// What a pod's status says, from what its containers are doing. Pure; the shape is the kubelet's,
// so that kubectl and our own controllers read it alike.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/clock.h"
#include "local/node/pod_spec.h"

namespace paddle::local {

struct Terminated {
  int exit_code = 0;     // 128 + signal when a signal ended it
  std::string reason{};  // Completed, Error, or why it never ran
  std::string message{};
  WallTime started{};
  WallTime finished{};
  bool operator==(const Terminated&) const = default;
};

struct ContainerState {
  enum class Phase { kWaiting, kRunning, kTerminated };
  Phase phase = Phase::kWaiting;
  std::string reason = "ContainerCreating";  // while waiting
  std::string message{};
  WallTime started{};  // while running
  // The last end: the present state, or lastState after a restart.
  std::optional<Terminated> terminated{};
  int restarts = 0;
  bool operator==(const ContainerState&) const = default;
};

struct PodState {
  std::string ip{};
  std::string host_ip{};
  std::optional<WallTime> started{};
  std::map<std::string, ContainerState> init{};
  std::map<std::string, ContainerState> containers{};
  // Set when the pod as a whole can not go on: phase Failed with this reason.
  std::string failed_reason{};
  std::string failed_message{};
  bool operator==(const PodState&) const = default;
};

std::string phase_of(const PodSpec& pod, const PodState& state);
api::Json status_of(const PodSpec& pod, const PodState& state, WallTime now);

// Whether a container that ended so is started again.
bool starts_again(RestartPolicy policy, const Terminated& terminated, bool init);

}  // namespace paddle::local
