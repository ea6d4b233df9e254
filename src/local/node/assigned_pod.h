// SPDX-License-Identifier: Apache-2.0
//
// A pod that is bound to this node, as the API server shows it, and what a node that does not run
// it has to do about it. Pure.

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
  std::optional<PodSpec> spec{};  // nothing: it can not run here
  std::string rejection{};        // then why, in one sentence
  std::string phase{};
  bool started_before = false;                     // a node has given it an address before
  std::map<std::string, int> restarts{};           // of containers that have been started
  std::map<std::string, Terminated> terminated{};  // of containers that an earlier node saw end
  std::optional<std::chrono::seconds> grace{};     // when it is being deleted
  bool operator==(const AssignedPod&) const = default;
};

// Fails only when the metadata can not be read.
Result<AssignedPod> decode_assigned_pod(const api::Json& object);

enum class PodAction {
  kRun,
  kRunAgain,    // an earlier node ran it: one more restart
  kReject,      // Failed, with the rejection
  kMarkFailed,  // an earlier node ran it, and it must not run twice: Failed
  kIgnore,      // it has ended
  kFinish,      // it was deleted and nothing of it runs: let it go
};
PodAction decide_action(const AssignedPod& pod);

// The counts to go on with after kRunAgain.
std::map<std::string, int> restarts_after(const AssignedPod& pod);

// The state of a pod that is refused or given up. As a kubelet does it after a reboot: containers
// that had ended keep their end, all others are ContainerStatusUnknown, which controllers take for
// the node's doing and not for the program's.
PodState failed_state(const AssignedPod& pod, PodAction action, WallTime now);

// `status` with the times of conditions that did not change since `before`.
api::Json keep_transition_times(api::Json status, const api::Json& before);

}  // namespace paddle::local
