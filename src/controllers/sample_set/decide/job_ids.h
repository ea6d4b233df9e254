// SPDX-License-Identifier: Apache-2.0
//
// The ids of the jobs that the operator starts for a SampleSet by itself. A runtime runs one job
// per id: repeating a job needs a new id, and a job that must not be repeated keeps its id. Each id
// is derived from the previous one, which the status stores. Pure.
//
//   sync-<uid>-<attempt>                       until one has succeeded
//     .<n>    its n-th division among several runtimes; the id of all parts of that division
//     .r<n>   n-th retry of a part of the same division
//   warmup-<uid>-<generation>-<partitions>     one for each sync and each change of partitions
//     -v<n>   the n-th that differs from the previous one: 3, 2 and 3 partitions are three warm-ups
//     -l<n>   n-th repetition where the cache was lost; elsewhere it has ended already
//     -r<n>   n-th retry after a failure, where it has not ended yet

#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "api/sample_set.h"

namespace paddle::controllers::sample_set {

// `previous` may be empty.
std::string next_sync_id(const api::SampleSet& set, const std::string& previous);

// The id without retries of the part.
std::string division_id(const std::string& part);
std::string retry_part_id(const std::string& part);
// How long to wait after a part has failed under this id; grows with each failure.
std::chrono::seconds part_retry_delay(const std::string& part);

// Returns `previous` when neither the generation nor the number of partitions has changed.
std::string warm_up_id(const api::SampleSet& set, std::int64_t generation,
                       const std::string& previous);
std::string warm_up_after_loss(const std::string& warm_up);
std::string warm_up_after_failure(const std::string& warm_up);
// The id without losses and retries: a warm-up that ended under one of them ended under all.
std::string warm_up_round(const std::string& warm_up);

// The number of failures before this id, and how long to wait after the next one; grows with each.
int attempt_of(const std::string& id);
std::chrono::seconds retry_delay(const std::string& id);

}  // namespace paddle::controllers::sample_set
