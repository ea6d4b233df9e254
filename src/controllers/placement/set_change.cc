// SPDX-License-Identifier: Apache-2.0
#include "controllers/placement/set_change.h"

#include <algorithm>

#include "controllers/placement/data_gate.h"
#include "controllers/placement/placement.h"
#include "controllers/placement/set_state.h"

namespace paddle::controllers::placement {
namespace {

bool is_current(const api::SampleSet& set) {
  return set.status.observed_generation == set.meta.generation;
}

// What data_block_reason, place_worker, mount_samples and data_version read.
bool same_for_all(const api::SampleSet& before, const api::SampleSet& after) {
  const auto same_place = [](const api::PartitionStatus& a, const api::PartitionStatus& b) {
    return a.index == b.index && a.node == b.node;
  };
  return before.meta.uid == after.meta.uid && before.meta.deleting() == after.meta.deleting() &&
         before.status.phase == after.status.phase && before.status.engine == after.status.engine &&
         has_no_node(before) == has_no_node(after) && data_version(before) == data_version(after) &&
         first_sync_block_reason(before) == first_sync_block_reason(after) &&
         sync_failure_advice(before) == sync_failure_advice(after) &&
         std::ranges::equal(before.status.partitions, after.status.partitions, same_place) &&
         before.spec == after.spec;
}

// What decide_gate reads besides.
bool same_warmth(const api::SampleSet& before, const api::SampleSet& after) {
  const auto as_warm = [](const api::PartitionStatus& a, const api::PartitionStatus& b) {
    return a.uncached_reason == b.uncached_reason && warm_permille(a) == warm_permille(b);
  };
  return is_current(before) == is_current(after) &&
         std::ranges::equal(before.status.partitions, after.status.partitions, as_warm);
}

}  // namespace

SetChange change_for_jobs(const api::SampleSet& before, const api::SampleSet& after) {
  if (!same_for_all(before, after)) return SetChange::kAll;
  return same_warmth(before, after) ? SetChange::kNone : SetChange::kWarmth;
}

}  // namespace paddle::controllers::placement
