// SPDX-License-Identifier: Apache-2.0
//
// Facts about one pod: the epoch that it belongs to, its progress, and why it ended. Pure.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/core/pod.h"
#include "base/clock.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers::paddle_job {

std::int64_t epoch_of(const api::Meta& meta);

bool ended(const api::Pod& pod);        // Succeeded or Failed
bool is_running(const api::Pod& pod);   // every container runs and is ready
bool has_started(const api::Pod& pod);  // is running, or has succeeded
// No container waits or has failed; some may have ended well, or not be ready any more.
bool is_working(const api::Pod& pod);
bool coordinating(const api::Pod& pod);     // coord-paddle runs
bool has_coordinator(const api::Pod& pod);  // it waits for a release when it starts
bool was_released(const api::Pod& pod);     // with any value of the annotation
// It was released with another address than it has now, or it has none: its node was rebooted.
bool lost_released_address(const api::Pod& pod);
// No container of the template runs: a release would start them.
bool waits_for_release(const api::Pod& pod);

bool waits_at_data_gate(const api::Pod& pod);

bool failed(const api::Pod& pod);
// Evicted, preempted, rejected or lost by its node, or lost in a reboot of it: not a failure of the
// user's program.
bool failed_by_disruption(const api::Pod& pod);
// It is being deleted, or marked for eviction.
bool is_leaving(const api::Pod& pod);

// Why it cannot start without intervention; nothing while it only takes time.
std::optional<BlockReason> stuck_reason(const api::Pod& pod);
// A container has failed and its kubelet restarts it, perhaps after a pause.
std::optional<BlockReason> container_failure(const api::Pod& pod);
// How often its containers were restarted in place, by its kubelet.
int container_restarts(const api::Pod& pod);
// How often a program of a pod that has not ended failed in place, including a failure that its
// kubelet has not restarted yet. A restart after a reboot of the node is not a failure.
int container_failures(const api::Pod& pod);
// When its last container ended; unset when no container status has a time.
std::optional<WallTime> ended_at(const api::Pod& pod);
// "pod a-worker-1 failed: container main ended with exit code 3; see kubectl logs a-worker-1"
std::string failure_message(const api::Pod& pod);

}  // namespace paddle::controllers::paddle_job
