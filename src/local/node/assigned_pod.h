// SPDX-License-Identifier: Apache-2.0
//
// A pod that is bound to this node, as read from the API server, and the decision what to do with
// it while the node does not run it. Pure.

#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "api/core/meta.h"
#include "api/json/json.h"
#include "base/result.h"
#include "local/node/pod_spec.h"
#include "local/node/pod_status.h"

namespace paddle::local {

struct AssignedPod {
  api::Meta meta{};
  std::optional<PodSpec> spec{};  // nothing: it cannot run here
  std::string rejection{};        // then the reason, in one sentence
  std::string phase{};
  std::string ip{};                                       // as reported; empty: none yet
  std::map<std::string, int> restarts{};                  // of containers that were started
  std::map<std::string, Terminated> terminated{};         // of containers that had ended before
  std::optional<std::chrono::seconds> grace{};            // set when it is being deleted
  std::optional<std::chrono::seconds> active_deadline{};  // activeDeadlineSeconds of its spec
  bool operator==(const AssignedPod&) const = default;
};

// Fails only when the metadata is invalid.
Result<AssignedPod> decode_assigned_pod(const api::Json& object);

enum class PodAction {
  kRun,
  kRunAgain,    // an earlier node process ran it: restart it
  kReject,      // set its phase to Failed, with the rejection
  kMarkFailed,  // it ran before and must not run twice: set its phase to Failed
  kIgnore,      // it has ended: do nothing
  kFinish,      // it is deleted and does not run: remove the object
};
PodAction decide_action(const AssignedPod& pod);

// The restart counts after kRunAgain.
std::map<std::string, int> restarts_after(const AssignedPod& pod);

// The state of a pod after kReject or kMarkFailed. As with the kubelet after a reboot: containers
// that had ended keep their state, all others are ContainerStatusUnknown, which controllers
// attribute to the node and not to the program.
PodState failed_state(const AssignedPod& pod, PodAction action, WallTime now);

// Whether a pod that was started at this time has to be stopped now: it stays, as Failed, with its
// logs.
bool deadline_passed(const AssignedPod& pod, std::optional<WallTime> started, WallTime now);
// The state of such a pod when its containers have ended.
PodState exceeded_state(PodState state);

// Returns `status` with the transition times of conditions that did not change since `before`.
api::Json keep_transition_times(api::Json status, const api::Json& before);

}  // namespace paddle::local
