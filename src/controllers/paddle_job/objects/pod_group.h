// SPDX-License-Identifier: Apache-2.0
//
// Gang scheduling with Volcano: the PodGroup `<job>` (scheduling.volcano.sh/v1beta1), what its
// phase allows, and what the pods of the job carry. Pure.
//
//   minMember                  schedulingPolicy.minAvailable, else all replicas
//   minResources               schedulingPolicy.minResources, else the requests of all pods
//   queue, priorityClassName   from the policy, when set
//
// The group follows the job: a change of replicas changes it. Only the fields that we set are
// compared, so that values that Volcano (queue `default`) or the API server adds cause no write. A
// PodGroup of this name that another owner created is waited for and used, but never changed. The
// group is deleted when the job ends and while it is suspended.

#pragma once

#include <optional>
#include <string>

#include "api/json/json.h"
#include "api/paddle_job.h"
#include "base/result.h"
#include "controllers/paddle_job/spec/replica_group.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers::paddle_job {

inline constexpr const char* kVolcano = "volcano";  // value of the flag and name of the scheduler
inline constexpr const char* kPodGroupApiVersion = "scheduling.volcano.sh/v1beta1";
inline constexpr const char* kPodGroupKind = "PodGroup";

// The operator runs with --scheduling=volcano, and no template names another scheduler.
bool uses_pod_group(const api::PaddleJobSpec& spec, const std::string& scheduling);

// Which fields of schedulingPolicy have no effect, and why; empty: all that are set have one.
std::string why_no_gang(const api::PaddleJobSpec& spec, const std::string& scheduling);

struct PodGroupSummary {
  api::Meta meta{};
  std::string phase{};  // Pending, Inqueue, Running, Unknown, Completed; empty: not processed yet
  api::Opaque spec{};
  bool operator==(const PodGroupSummary&) const = default;
};
Result<PodGroupSummary> decode_pod_group(const api::Json& object);

// The minResources of the group. A gang that waits only for its data reserves nothing: Volcano
// would keep resources for it that other jobs could use until then.
enum class Reservation { kAll, kNone };

// The whole object, for its creation. kInvalid when a template has an invalid quantity.
Result<api::Json> pod_group_for(const api::PaddleJob& job,
                                Reservation reservation = Reservation::kAll);
// A merge patch (RFC 7386) with the uid and resourceVersion of the stored group; nothing when no
// field differs or the group is not this job's.
Result<std::optional<api::Json>> pod_group_patch(const api::PaddleJob& job,
                                                 const PodGroupSummary& stored,
                                                 Reservation reservation = Reservation::kAll);

// Before the first pods of the job: why they may not be created yet. `stored` unset: there is no
// group yet.
std::optional<BlockReason> pod_group_block_reason(const api::PaddleJob& job,
                                                  const std::optional<PodGroupSummary>& stored);
// The flag is set, but the cluster has no PodGroups.
BlockReason volcano_is_missing();

// Sets schedulerName and annotations of one pod.
void join_pod_group(api::Json& pod, const api::PaddleJob& job, const ReplicaGroup& group);

}  // namespace paddle::controllers::paddle_job
