// SPDX-License-Identifier: Apache-2.0
//
// The values of `status.phase` of the three resources, of the state of one partition of a job, and
// of the phases of core objects that we read or, on one machine, write. They are part of the
// contract with existing clients. Constants, so that a misspelled phase does not compile;
// tools/check_reasons finds literals.

#pragma once

#include <string_view>

namespace paddle::api {

namespace paddle_job_phase {
inline constexpr const char* kPending = "Pending";
inline constexpr const char* kStarting = "Starting";
inline constexpr const char* kRunning = "Running";
inline constexpr const char* kRestarting = "Restarting";
inline constexpr const char* kSuspended = "Suspended";
inline constexpr const char* kCompleted = "Completed";
inline constexpr const char* kFailed = "Failed";
inline constexpr const char* kTerminating = "Terminating";
// Completed or Failed: it never changes again.
constexpr bool is_final(std::string_view phase) { return phase == kCompleted || phase == kFailed; }
}  // namespace paddle_job_phase

namespace sample_set_phase {
inline constexpr const char* kNone = "";  // the volume is not bound yet
inline constexpr const char* kBound = "Bound";
inline constexpr const char* kMount = "Mount";
inline constexpr const char* kSyncing = "Syncing";
inline constexpr const char* kSyncFailed = "SyncFailed";
inline constexpr const char* kPartialReady = "PartialReady";
inline constexpr const char* kReady = "Ready";
}  // namespace sample_set_phase

namespace sample_job_phase {
inline constexpr const char* kPending = "Pending";
inline constexpr const char* kRunning = "Running";
inline constexpr const char* kSucceeded = "Succeeded";
inline constexpr const char* kFailed = "Failed";
constexpr bool is_final(std::string_view phase) { return phase == kSucceeded || phase == kFailed; }
}  // namespace sample_job_phase

// State of one partition of a job that runtimes do.
namespace partition_state {
inline constexpr const char* kPending = "Pending";
inline constexpr const char* kRunning = "Running";
inline constexpr const char* kSucceeded = "Succeeded";
inline constexpr const char* kFailed = "Failed";
inline constexpr const char* kCancelled = "Cancelled";
constexpr bool is_final(std::string_view state) {
  return state == kSucceeded || state == kFailed || state == kCancelled;
}
}  // namespace partition_state

namespace pod_phase {
inline constexpr const char* kPending = "Pending";
inline constexpr const char* kRunning = "Running";
inline constexpr const char* kSucceeded = "Succeeded";
inline constexpr const char* kFailed = "Failed";
inline constexpr const char* kUnknown = "Unknown";
constexpr bool is_final(std::string_view phase) { return phase == kSucceeded || phase == kFailed; }
}  // namespace pod_phase

namespace claim_phase {
inline constexpr const char* kPending = "Pending";
inline constexpr const char* kBound = "Bound";
inline constexpr const char* kLost = "Lost";
}  // namespace claim_phase

namespace volume_phase {
inline constexpr const char* kPending = "Pending";
inline constexpr const char* kAvailable = "Available";
inline constexpr const char* kBound = "Bound";
inline constexpr const char* kReleased = "Released";
}  // namespace volume_phase

namespace namespace_phase {
inline constexpr const char* kActive = "Active";
inline constexpr const char* kTerminating = "Terminating";
}  // namespace namespace_phase

// Of Volcano.
namespace pod_group_phase {
inline constexpr const char* kInqueue = "Inqueue";
inline constexpr const char* kRunning = "Running";
}  // namespace pod_group_phase

}  // namespace paddle::api
