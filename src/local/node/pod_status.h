// SPDX-License-Identifier: Apache-2.0
//
// Computes a pod's status from the states of its containers. Pure; the format is the kubelet's, so
// that kubectl and our controllers can read it.

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
  std::string reason{};  // Completed, Error, or why it did not run
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
  // Set when the whole pod has failed: phase Failed with this reason.
  std::string failed_reason{};
  std::string failed_message{};
  bool operator==(const PodState&) const = default;
};

std::string phase_of(const PodSpec& pod, const PodState& state);
api::Json status_of(const PodSpec& pod, const PodState& state, WallTime now);

// True if the policy restarts a container that terminated like this.
bool starts_again(RestartPolicy policy, const Terminated& terminated, bool init);

}  // namespace paddle::local
