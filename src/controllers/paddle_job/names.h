// SPDX-License-Identifier: Apache-2.0
//
// Names, labels, annotations and ports that users, kubectl and Paddle see, and the owner reference
// of the objects that the controller creates. They are the contract of the public operator:
// existing scripts depend on every one of them.

#pragma once

#include "api/core/meta.h"
#include "api/paddle_job.h"

namespace paddle::controllers::paddle_job {

inline constexpr const char* kFinalizer = "finalizers.paddlepaddle.org";
inline constexpr const char* kResNameLabel = "paddle-res-name";
inline constexpr const char* kResTypeLabel = "paddle-res-type";
inline constexpr const char* kJobNameLabel = "batch.paddlepaddle.org/job-name";
inline constexpr const char* kResourceAnnotation = "paddle-resource";
// Tasks have these in addition, as in the heter branch of the Go operator.
inline constexpr const char* kPodKeyLabel = "paddle-pod-key";
inline constexpr const char* kTaskName = "paddle-task-name";  // label and annotation
// On a job with intranet Host: the first of its ports, also in status.port.
inline constexpr const char* kHostPortAnnotation = "host-port";
// On a job or in a template: the queue of Kueue (docs/en/paddlejob.md, Queues).
inline constexpr const char* kQueueLabel = "kueue.x-k8s.io/queue-name";
inline constexpr const char* kQueueGroupLabel = "kueue.x-k8s.io/pod-group-name";
inline constexpr const char* kQueueGroupSize = "kueue.x-k8s.io/pod-group-total-count";
// On a job with a queue: the operator has suspended it once, before its first pods.
inline constexpr const char* kQueuedAnnotation = "batch.paddlepaddle.org/queued";
// Set by the operator when the pod may start: "<epoch>/<pod address>". A pod that returns with
// another address therefore waits again.
inline constexpr const char* kReleaseAnnotation = "batch.paddlepaddle.org/release";
// When it was set, and how often (decide/start_barrier.h).
inline constexpr const char* kReleasedAtAnnotation = "batch.paddlepaddle.org/released-at";
// On pods and on the ConfigMap: the epoch (restart count) of the job; absent means 0.
inline constexpr const char* kEpochAnnotation = "batch.paddlepaddle.org/epoch";
// On the ConfigMap: the part of the spec that it was built from (objects/peer_config_map.h).
inline constexpr const char* kShapeAnnotation = "batch.paddlepaddle.org/shape";
// On pods: what of the spec the pod was built from (objects/template_hash.h). Pods of older
// operators have none and count as current.
inline constexpr const char* kTemplateHashAnnotation = "batch.paddlepaddle.org/template-hash";
// On the job, by its user: another value than before restarts the job.
inline constexpr const char* kRestartAnnotation = "batch.paddlepaddle.org/restart";
inline constexpr const char* kCoordinator = "coord-paddle";

inline constexpr int kFirstPort = 36000;
inline constexpr int kPortsPerJob = 20;
inline constexpr int kGlooOffset = 18;

// On every object that is created for a job: the garbage collector deletes it with the job.
inline api::OwnerReference owner_reference(const api::PaddleJob& job) {
  return {.api_version = api::PaddleJob::kApiVersion,
          .kind = api::PaddleJob::kKind,
          .name = job.meta.key.name,
          .uid = job.meta.uid,
          .controller = true,
          .block_owner_deletion = true};
}

// Whether this very job, by uid, controls the object.
inline bool belongs_to(const api::Meta& object, const api::PaddleJob& job) {
  const auto* owner = object.controller();
  return owner && owner->uid == job.meta.uid;
}

}  // namespace paddle::controllers::paddle_job
