// SPDX-License-Identifier: Apache-2.0
//
// The names, labels, annotations and numbers that users, kubectl and Paddle itself see. They are
// the contract of the public operator: change one and somebody's script breaks.

#pragma once

#include <array>
#include <optional>
#include <string>

#include "api/paddle_job.h"

namespace paddle::controllers {

enum class RoleKind { kPs, kWorker, kHeter };
// In the order in which ranks, lists and starts go.
inline constexpr std::array kRoles{RoleKind::kPs, RoleKind::kWorker, RoleKind::kHeter};

std::string to_string(RoleKind kind);  // ps, worker, heter
// TRAINING_ROLE, as Paddle reads it: PSERVER, TRAINER, HETER_TRAINER.
std::string training_role(RoleKind kind);
// PADDLE_TRAINING_ROLE, as the Go operator had it: PSERVER, TRAINER, HETER.
std::string old_training_role(RoleKind kind);
const std::optional<api::Role>& role_of(const api::PaddleJobSpec& spec, RoleKind kind);
std::optional<api::RoleStatus>& status_of(api::PaddleJobStatus& status, RoleKind kind);
int replicas_of(const api::PaddleJobSpec& spec, RoleKind kind);  // 0 when the role is absent
int total_replicas(const api::PaddleJobSpec& spec);

std::string pod_name(const api::PaddleJob& job, RoleKind kind, int index);

// PS when there is a ps role; else Collective with more than one worker; else Single.
std::string mode_of(const api::PaddleJobSpec& spec);

inline constexpr const char* kFinalizer = "finalizers.paddlepaddle.org";
inline constexpr const char* kResNameLabel = "paddle-res-name";
inline constexpr const char* kResTypeLabel = "paddle-res-type";
inline constexpr const char* kJobNameLabel = "batch.paddlepaddle.org/job-name";
inline constexpr const char* kResourceAnnotation = "paddle-resource";
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

}  // namespace paddle::controllers
