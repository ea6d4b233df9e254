// SPDX-License-Identifier: Apache-2.0
//
// Types and reasons of the conditions of a SampleJob, and reasons of its events. Users and their
// scripts depend on them: docs/en/troubleshooting.md lists each. Pure.

#pragma once

namespace paddle::controllers::sample_job {

namespace condition_type {
inline constexpr const char* kReady = "Ready";  // False with the reason why the job does not run
inline constexpr const char* kComplete = "Complete";
inline constexpr const char* kFailed = "Failed";
inline constexpr const char* kWarning = "Warning";      // an option has no effect
inline constexpr const char* kScheduled = "Scheduled";  // of a schedule
}  // namespace condition_type

namespace reason {
// The job waits for something.
inline constexpr const char* kSuspended = "Suspended";
inline constexpr const char* kSampleSetNotExist = "ErrorSampleSetNotExist";
inline constexpr const char* kSecretElsewhere = "SecretElsewhere";
inline constexpr const char* kSecretNotExist = "ErrorSecretNotExist";
inline constexpr const char* kWaitingForSampleSet = "WaitingForSampleSet";
inline constexpr const char* kWaitingForRuntimes = "WaitingForRuntimes";
inline constexpr const char* kTerminating = "Terminating";
inline constexpr const char* kQueued = "Queued";
inline constexpr const char* kRetrying = "Retrying";
// It has begun.
inline constexpr const char* kStarting = "Starting";
inline constexpr const char* kRunning = "Running";
inline constexpr const char* kCheckSpec = "CheckSpec";
// It has finished.
inline constexpr const char* kSucceeded = "Succeeded";
inline constexpr const char* kInvalidSpec = "InvalidSpec";
inline constexpr const char* kTerminated = "Terminated";
inline constexpr const char* kDeadlineExceeded = "DeadlineExceeded";
inline constexpr const char* kRuntimeFailed = "RuntimeFailed";
// Of a schedule; an invalid one is an event, too.
inline constexpr const char* kScheduled = "Scheduled";
inline constexpr const char* kInvalidSchedule = "InvalidSchedule";
}  // namespace reason

namespace event_reason {
inline constexpr const char* kProgress = "Progress";
inline constexpr const char* kCreateRunSuccessfully = "CreateRunSuccessfully";
inline constexpr const char* kTerminateSuccessfully = "CreateTerminateSuccessfully";
inline constexpr const char* kNameTaken = "NameTaken";
inline constexpr const char* kDeletionRequested = "DeletionRequested";
inline constexpr const char* kCancelJobSuccessfully = "CancelJobSuccessfully";
inline constexpr const char* kSamplesCorrupt = "SamplesCorrupt";
// Those of a job have its type in the middle: "CreateWarmupJobSuccessfully", "ErrorDoSyncJob".
inline constexpr const char* kCreate = "Create";
inline constexpr const char* kDo = "Do";
inline constexpr const char* kErrorDo = "ErrorDo";
inline constexpr const char* kJob = "Job";
inline constexpr const char* kSuccessfully = "Successfully";
}  // namespace event_reason

}  // namespace paddle::controllers::sample_job
