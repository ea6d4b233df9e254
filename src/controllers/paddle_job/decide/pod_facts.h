// SPDX-License-Identifier: Apache-2.0
//
// What one pod tells: which restart of the job it belongs to, how far it is, and why it ended.
// Pure.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/core/pod.h"
#include "base/clock.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers::paddle_job {

std::int64_t epoch_of(const api::Meta& meta);

bool ended(const api::Pod& pod);            // Succeeded or Failed
bool is_running(const api::Pod& pod);       // every container runs and is ready
bool has_started(const api::Pod& pod);      // runs, or did and succeeded
bool coordinating(const api::Pod& pod);     // coord-paddle runs
bool has_coordinator(const api::Pod& pod);  // it was made to wait for its release
bool was_released(const api::Pod& pod);     // by a release of any value
// It was let go under one address and has none now, or another: its node was switched off and on.
bool lost_released_address(const api::Pod& pod);
// No container of the user's runs: a release would let it go on.
bool waits_for_release(const api::Pod& pod);

bool waits_at_data_gate(const api::Pod& pod);

bool failed(const api::Pod& pod);
// Evicted, preempted, refused or lost by its node, or lost with it when it was switched off and on
// again: nothing the user's program did.
bool failed_by_disruption(const api::Pod& pod);
// Somebody takes it away: it is deleted, or marked for eviction.
bool is_leaving(const api::Pod& pod);

// What keeps it from starting until somebody helps; nothing while it is only slow.
std::optional<BlockReason> stuck_reason(const api::Pod& pod);
// When its last container ended; nothing when no container tells.
std::optional<WallTime> ended_at(const api::Pod& pod);
// "pod a-worker-1 failed: container main ended with exit code 3; see kubectl logs a-worker-1"
std::string failure_message(const api::Pod& pod);

}  // namespace paddle::controllers::paddle_job
