// SPDX-License-Identifier: Apache-2.0
//
// How the jobs are called that a SampleSet has its runtimes do by itself. A runtime does a job once
// for each id, so what is to be done again needs another one; and what must not be done again keeps
// the one it has. Each id follows from the one before, which stands in the status. Pure.
//
//   sync-<uid>-<attempt>                       until one has succeeded
//     .<n>    its n-th division among several runtimes; all parts of one are asked for under it
//     .r<n>   of a part: again after a failure, by the same division
//   warmup-<uid>-<generation>-<partitions>     once for each sync and each re-partitioning
//     -v<n>   the n-th that is another than the one before: 3, 2 and again 3 partitions are three
//     -l<n>   again where the cache was lost; where it was not, it has ended already
//     -r<n>   again after a failure, where it has not ended yet

#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "api/sample_set.h"

namespace paddle::controllers::sample_set {

// The one before, or empty.
std::string next_sync_id(const api::SampleSet& set, const std::string& before);

// Of a part that was tried again, the division that it is of; else its own id.
std::string division_id(const std::string& part);
std::string retry_part_id(const std::string& part);
// How long a part that has failed under this id waits: longer each time.
std::chrono::seconds part_retry_delay(const std::string& part);

// The same id when neither the list nor the number of partitions is another.
std::string warm_up_id(const api::SampleSet& set, std::int64_t generation,
                       const std::string& before);
std::string warm_up_after_loss(const std::string& warm_up);
std::string warm_up_after_failure(const std::string& warm_up);
// Without losses and failures: what has ended under one of them has ended under all.
std::string warm_up_round(const std::string& warm_up);

// How often it has failed before, and how long to wait after the next time: longer each time.
int attempt_of(const std::string& id);
std::chrono::seconds retry_delay(const std::string& id);

}  // namespace paddle::controllers::sample_set
