// SPDX-License-Identifier: Apache-2.0
//
// Gang scheduling with Volcano: the PodGroup `<job>` (scheduling.volcano.sh/v1beta1), what its
// phase allows, and what the job's pods carry. Pure.
//
//   minMember     schedulingPolicy.minAvailable, else all replicas
//   minResources  schedulingPolicy.minResources, else what all pods reserve (api/core/quantity.h)
//   queue, priorityClassName  from the policy when given
//
// The group follows the job: a resize changes it. Only what we say is compared, so what Volcano
// fills in (queue `default`) or the server adds never causes a write. A PodGroup of this name that
// somebody else made is waited for and used, and never changed. It is deleted when the job ends,
// and while it is suspended.

#pragma once

#include <optional>
#include <string>

#include "api/json/json.h"
#include "api/paddle_job.h"
#include "base/result.h"
#include "controllers/paddle_job/spec/replica_group.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers::paddle_job {

inline constexpr const char* kVolcano = "volcano";  // the flag's value and the scheduler's name
inline constexpr const char* kPodGroupApiVersion = "scheduling.volcano.sh/v1beta1";
inline constexpr const char* kPodGroupKind = "PodGroup";

// The operator's --scheduling says volcano, and no role's template names another scheduler.
bool uses_pod_group(const api::PaddleJobSpec& spec, const std::string& scheduling);

struct PodGroupSummary {
  api::Meta meta{};
  std::string phase{};  // Pending, Inqueue, Running, Unknown, Completed; empty: not looked at yet
  api::Opaque spec{};
  bool operator==(const PodGroupSummary&) const = default;
};
Result<PodGroupSummary> decode_pod_group(const api::Json& object);

// How much the group asks for. A gang that waits for its data alone asks for nothing: Volcano would
// keep the room for it that others could use until then.
enum class Room { kAll, kNone };

// The whole object, for its creation. kInvalid when a quantity in a template is none.
Result<api::Json> pod_group_for(const api::PaddleJob& job, Room room = Room::kAll);
// A merge patch (RFC 7386) with uid and resourceVersion of what was seen; nothing when it says what
// it should, or is not this job's.
Result<std::optional<api::Json>> pod_group_patch(const api::PaddleJob& job,
                                                 const PodGroupSummary& seen,
                                                 Room room = Room::kAll);

// Only before the job's first pods; nothing when they may be created. `seen` empty: not there yet.
std::optional<BlockReason> waits_for_pod_group(const api::PaddleJob& job,
                                               const std::optional<PodGroupSummary>& seen);
// The flag is set and the cluster has no PodGroups.
BlockReason volcano_is_missing();

// schedulerName and annotations of one pod.
void join_pod_group(api::Json& pod, const api::PaddleJob& job, const ReplicaGroup& group);

}  // namespace paddle::controllers::paddle_job
