// SPDX-License-Identifier: Apache-2.0
//
// What a SampleSet's status says: phase, figures, jobs and conditions, from what is seen now. Pure.
//
// Conditions: Ready, Synced (the file list is published), Warm (the automatic warm-up is done).

#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "api/sample_set.h"
#include "base/clock.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_sets {

// Why nothing moves; an empty reason means that nothing holds the set up.
struct Blocker {
  std::string reason{};   // CamelCase, for the condition and the event
  std::string message{};  // one sentence with the next step
};

// The file list was published: said by the status, which remembers it when runtimes are away.
bool synced(const api::SampleSetStatus& status);

api::SampleSetStatus observe(const api::SampleSet& set, const World& world,
                             const std::string& engine, const Blocker& blocker, WallTime now);

// How long until a failed sync is tried again. Grows with each attempt.
std::chrono::seconds retry_delay(const std::string& sync_id);
int attempt_of(const std::string& sync_id);

// Runtime pods of this set by partition, in order; those on their way out are left out.
std::vector<const api::Pod*> seats(const api::SampleSet& set, const World& world);

}  // namespace paddle::controllers::sample_sets
