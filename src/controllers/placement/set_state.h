// SPDX-License-Identifier: Apache-2.0
//
// The state of a SampleSet, as far as jobs depend on it. Pure.

#pragma once

#include <optional>
#include <string>

#include "api/sample_set.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers::placement {

// It is synced, but no node takes one of its partitions: it may take long until it is Ready, and
// its samples can be read from any node.
bool has_no_node(const api::SampleSet& set);

// Its samples can be read. A set stays so after its first sync, whatever a later sync does; a set
// with noSync has its samples in the engine already.
bool has_samples(const api::SampleSet& set);

// Why a job has to wait for the first sync, with the set's own message and what to do: a job that
// starts before finds an empty directory. Unset after the first sync.
std::optional<BlockReason> first_sync_block_reason(const api::SampleSet& set);

// "; <why the sync failed>; <what to do>" when the first sync has failed, else empty.
std::string sync_failure_advice(const api::SampleSet& set);

}  // namespace paddle::controllers::placement
