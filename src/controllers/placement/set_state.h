// SPDX-License-Identifier: Apache-2.0
//
// What a SampleSet says of itself that jobs go by. Pure.

#pragma once

#include <optional>
#include <string>

#include "api/sample_set.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers::placement {

// Synced, but no node takes one of its partitions: it may be long until it is Ready, and its
// samples can be read from anywhere.
bool has_no_node(const api::SampleSet& set);

// Its samples can be read. A set that has had its first sync stays so, whatever a later one does; a
// set without a sync (noSync) has its samples in the engine already.
bool has_samples(const api::SampleSet& set);

// What is waited for while the set has not had its first sync, in its own words, with what to do:
// a job that starts before finds an empty directory.
std::optional<BlockReason> first_sync_block_reason(const api::SampleSet& set);

// "; <why the sync failed>; <what to do>" of a set whose first sync has failed, else empty.
std::string sync_failure_advice(const api::SampleSet& set);

}  // namespace paddle::controllers::placement
