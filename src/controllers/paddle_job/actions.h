// SPDX-License-Identifier: Apache-2.0
//
// What the plan for one PaddleJob consists of: actions, queries and a status. Values; execute/
// executes the actions, observe/ answers the queries.
//
// Every created object has a name that follows from the job, every delete and patch carries the uid
// of the object that it is meant for: a late or repeated action does no harm.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/core/meta.h"
#include "api/json/json.h"
#include "api/paddle_job.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers::paddle_job {

// The kinds of objects that a job owns.
enum class OwnedKind { kPod, kService, kConfigMap, kPodGroup };

struct Create {
  OwnedKind kind = OwnedKind::kPod;
  api::ObjectKey key{};
  api::Opaque manifest{};
  bool operator==(const Create&) const = default;
};
struct Delete {
  OwnedKind kind = OwnedKind::kPod;
  api::ObjectKey key{};
  std::string uid{};
  bool force = false;  // grace period 0: the kubelet that should confirm the end does not respond
  bool operator==(const Delete&) const = default;
};
// Replaces the ConfigMap of the resourceVersion that the manifest names.
struct Replace {
  api::ObjectKey key{};
  api::Opaque manifest{};
  bool operator==(const Replace&) const = default;
};
// Sets the release annotation, on which the pod's coordinator waits.
struct ReleasePod {
  api::ObjectKey key{};
  std::string uid{};
  std::string value{};
  std::string stamp{};
  bool operator==(const ReleasePod&) const = default;
};
struct Patch {
  OwnedKind kind = OwnedKind::kPod;
  api::ObjectKey key{};
  api::Opaque body{};
  bool json_patch = false;  // RFC 6902; otherwise a merge patch (RFC 7386)
  bool operator==(const Patch&) const = default;
};
// Writes the annotation `host-port` of the job, which scripts for the Go operator read; 0 removes
// it.
struct SetHostPortAnnotation {
  int port = 0;
  bool operator==(const SetHostPortAnnotation&) const = default;
};
// Suspends a new job that names a queue, and records that it was done: the queue resumes it.
struct SuspendForQueue {
  bool operator==(const SuspendForQueue&) const = default;
};
// Removes the finalizer that older operators added to the job.
struct RemoveFinalizer {
  bool operator==(const RemoveFinalizer&) const = default;
};
// Deletes the job: its ttlSecondsAfterFinished has passed.
struct DeleteJob {
  bool operator==(const DeleteJob&) const = default;
};

// The keys of an elastic job in etcd (spec/elastic.h). A failed request does not end the pass: the
// next plan is made without etcd, and the pass returns the error at its end.

// Stores the number of trainers, if the key still has this revision (0: does not exist).
struct WriteElasticReplicas {
  std::string value{};
  std::int64_t revision = 0;
  std::optional<EmitEvent> event{};  // emitted when the value has been stored
  bool operator==(const WriteElasticReplicas&) const = default;
};
// Before the first pods: removes what an earlier job of the same name may have left.
struct CleanElasticState {
  bool operator==(const CleanElasticState&) const = default;
};
// After the end of the job: removes its keys; a failure is only logged.
struct ForgetElasticState {
  bool operator==(const ForgetElasticState&) const = default;
};

using Action = std::variant<Create, Delete, Replace, ReleasePod, Patch, SetHostPortAnnotation,
                            SuspendForQueue, RemoveFinalizer, DeleteJob, WriteElasticReplicas,
                            CleanElasticState, ForgetElasticState>;

// Reads that must happen before a plan may be executed; the plan is made again with the answers.

// When did this node last renew its lease? Answer: World::node_leases.
struct ReadNodeLease {
  std::string node{};
  bool operator==(const ReadNodeLease&) const = default;
};
// Read the job and its pods from the API server, not from the informers. Answer: World::pods and
// World::confirmed.
struct ConfirmPods {
  bool operator==(const ConfirmPods&) const = default;
};
// Read the number of trainers in etcd. Answer: World::elastic.replicas.
struct ReadElasticReplicas {
  bool operator==(const ReadElasticReplicas&) const = default;
};

using Query = std::variant<ReadNodeLease, ConfirmPods, ReadElasticReplicas>;

// After its waves, and after its status when `requeue_after` is 0, a plan is made again in the same
// pass: the status that is written last shows what the actions changed.
struct Plan : PlanOf<Action, api::PaddleJobStatus> {
  std::vector<Query> queries{};  // when there are any, nothing of the plan is executed
  bool operator==(const Plan&) const = default;
};
using Wave = Plan::Wave;

inline constexpr std::size_t kParallelActions = 16;  // of a wave

}  // namespace paddle::controllers::paddle_job
