// SPDX-License-Identifier: Apache-2.0
//
// The part of a core/v1 Pod that the controllers read. Only decoding: pods are created as JSON,
// from templates.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/core/meta.h"
#include "api/json/json.h"
#include "base/clock.h"
#include "base/result.h"

namespace paddle::api {

enum class PodPhase { kPending, kRunning, kSucceeded, kFailed, kUnknown };

struct ContainerStatus {
  enum class State { kWaiting, kRunning, kTerminated };
  std::string name{};
  bool ready = false;
  State state = State::kWaiting;
  int restarts = 0;
  int exit_code = 0;                // when terminated
  std::string reason{};             // why it waits or has ended: ImagePullBackOff, OOMKilled, ...
  std::string message{};            // of its end or of a configuration error, cut to 1024 bytes
  std::optional<WallTime> ended{};  // when terminated
  int last_exit_code = 0;           // of the run before this one (lastState.terminated)
  std::string last_reason{};        // likewise; empty: there was none
  bool operator==(const ContainerStatus&) const = default;
};

struct Pod {
  Meta meta{};
  PodPhase phase = PodPhase::kPending;
  std::string reason{};  // Evicted, NodeLost, ...
  std::string message{};
  std::string ip{};  // empty until the kubelet reports one
  std::string host_ip{};
  std::string node{};                // empty until it is scheduled
  bool disrupted = false;            // condition DisruptionTarget: evicted, preempted, node lost
  std::string unschedulable{};       // the scheduler's message while no node fits
  std::vector<std::string> gates{};  // names of its scheduling gates, in order
  std::int64_t active_deadline_seconds = 0;  // of its spec; 0: none
  std::vector<ContainerStatus> init_containers{};
  std::vector<ContainerStatus> containers{};
  bool operator==(const Pod&) const = default;

  // Every init container is ready, every container runs and is ready, and there is at least one.
  bool all_ready() const;
};

// kInvalid when the metadata cannot be decoded; other fields that are missing or have another type
// count as not reported.
Result<Pod> decode_pod(const Json& object);

}  // namespace paddle::api
