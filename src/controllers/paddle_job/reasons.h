// SPDX-License-Identifier: Apache-2.0
//
// Types and reasons of the conditions of a PaddleJob, and reasons of its events. They are part of
// the contract with users: docs/en/troubleshooting.md lists them. Constants, so that a misspelled
// one does not compile. Reasons that concern samples are in controllers/placement/placement.h; a
// container's own reason (ImagePullBackOff, ...) is passed on as the kubelet wrote it.

#pragma once

namespace paddle::controllers::paddle_job {

namespace condition_type {
inline constexpr const char* kReady = "Ready";
inline constexpr const char* kComplete = "Complete";
inline constexpr const char* kFailed = "Failed";
inline constexpr const char* kSuspended = "Suspended";
inline constexpr const char* kWarning = "Warning";
inline constexpr const char* kUpdatePending = "UpdatePending";
inline constexpr const char* kDataLocal = "DataLocal";
inline constexpr const char* kDataWarm = "DataWarm";
}  // namespace condition_type

namespace reasons {
// Why a job is not ready yet.
inline constexpr const char* kWaitingForPods = "WaitingForPods";
inline constexpr const char* kStarting = "Starting";
inline constexpr const char* kRestarting = "Restarting";
inline constexpr const char* kSuspended = "Suspended";
inline constexpr const char* kUnschedulable = "Unschedulable";
inline constexpr const char* kContainerFailed = "ContainerFailed";
inline constexpr const char* kInvalidSpec = "InvalidSpec";
inline constexpr const char* kInvalidDefaults = "InvalidDefaults";
inline constexpr const char* kNoFreePorts = "NoFreePorts";
inline constexpr const char* kPodGroupNotAdmitted = "PodGroupNotAdmitted";
inline constexpr const char* kVolcanoMissing = "VolcanoMissing";
inline constexpr const char* kEtcdUnavailable = "EtcdUnavailable";
inline constexpr const char* kNameNotFree = "NameNotFree";
// What the API server answered to a request of ours.
inline constexpr const char* kRefused = "Refused";
inline constexpr const char* kInvalidObject = "InvalidObject";
inline constexpr const char* kNameTaken = "NameTaken";
inline constexpr const char* kServerError = "ServerError";
// Why it restarts or has ended.
inline constexpr const char* kCompleted = "Completed";
inline constexpr const char* kFailed = "Failed";
inline constexpr const char* kPodDisrupted = "PodDisrupted";
inline constexpr const char* kPodLeaves = "PodLeaves";
inline constexpr const char* kPodLost = "PodLost";
inline constexpr const char* kAddressChanged = "AddressChanged";
inline constexpr const char* kNodeRestarted = "NodeRestarted";
inline constexpr const char* kNodeLost = "NodeLost";
inline constexpr const char* kSpecChanged = "SpecChanged";
inline constexpr const char* kTemplateChanged = "TemplateChanged";
inline constexpr const char* kRestartRequested = "RestartRequested";
inline constexpr const char* kBackoffLimitExceeded = "BackoffLimitExceeded";
inline constexpr const char* kDisruptionLimitExceeded = "DisruptionLimitExceeded";
inline constexpr const char* kFailurePolicy = "FailurePolicy";
inline constexpr const char* kDeadlineExceeded = "DeadlineExceeded";
// Other conditions.
inline constexpr const char* kRunning = "Running";
inline constexpr const char* kResumed = "Resumed";
inline constexpr const char* kCheckSpec = "CheckSpec";
// Events only.
inline constexpr const char* kCreateFailed = "Create";
inline constexpr const char* kDeleteFailed = "Delete";
inline constexpr const char* kCreated = "Created";
inline constexpr const char* kDeleted = "Deleted";
inline constexpr const char* kScaled = "Scaled";
inline constexpr const char* kIpv6Addresses = "IPv6Addresses";
}  // namespace reasons

}  // namespace paddle::controllers::paddle_job
