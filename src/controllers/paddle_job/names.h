// SPDX-License-Identifier: Apache-2.0
//
// The names, labels, annotations and numbers that users, kubectl and Paddle itself see. They are
// the contract of the public operator: change one and somebody's script breaks.

#pragma once

#include <array>
#include <optional>
#include <string>

#include "api/paddle_job.h"

namespace paddle::controllers::paddle_job {

// What the pods of a part are for.
enum class RoleKind { kPs, kWorker, kHeter, kDriver };
// The roles of a spec, in the order in which ranks, lists and starts go. (Only tasks drive.)
inline constexpr std::array kRoles{RoleKind::kPs, RoleKind::kWorker, RoleKind::kHeter};

std::string to_string(RoleKind kind);  // ps, worker, heter, driver
std::optional<api::RoleStatus>& status_of(api::PaddleJobStatus& status, RoleKind role);
std::string pod_name(const api::PaddleJob& job, RoleKind role, int index);

inline constexpr const char* kFinalizer = "finalizers.paddlepaddle.org";
inline constexpr const char* kResNameLabel = "paddle-res-name";
inline constexpr const char* kResTypeLabel = "paddle-res-type";
inline constexpr const char* kJobNameLabel = "batch.paddlepaddle.org/job-name";
inline constexpr const char* kResourceAnnotation = "paddle-resource";
// Of tasks besides, as in the heter branch of the Go operator.
inline constexpr const char* kPodKeyLabel = "paddle-pod-key";
inline constexpr const char* kTaskName = "paddle-task-name";  // label and annotation
// Written by the operator when the pod may start; "<epoch>/<pod address>", so that a pod that comes
// back under another address waits again.
inline constexpr const char* kReleaseAnnotation = "batch.paddlepaddle.org/release";
// Beside it: when, and how often (release_stamp.h).
inline constexpr const char* kReleasedAtAnnotation = "batch.paddlepaddle.org/released-at";
// On pods and on the ConfigMap: the restart of the job that they belong to; none means 0.
inline constexpr const char* kEpochAnnotation = "batch.paddlepaddle.org/epoch";
// On the ConfigMap: what of the spec it was made from (rendezvous.h).
inline constexpr const char* kShapeAnnotation = "batch.paddlepaddle.org/shape";
inline constexpr const char* kCoordinator = "coord-paddle";

inline constexpr int kFirstPort = 36000;
inline constexpr int kPortsPerJob = 20;
inline constexpr int kGlooOffset = 18;

}  // namespace paddle::controllers::paddle_job
