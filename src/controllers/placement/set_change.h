// SPDX-License-Identifier: Apache-2.0
//
// Which jobs a change of a SampleSet concerns. A set that syncs or warms up changes its status
// every few seconds; what no job reads of it (sizes as text, progress, its own jobs) wakes no job.
// Pure.

#pragma once

#include "api/sample_set.h"

namespace paddle::controllers::placement {

enum class SetChange {
  kNone,    // no job reads what has changed
  kWarmth,  // only how warm partitions are: read by jobs with a data gate
  kAll
};

// Of the same set: a set that was replaced by another one of its name is kAll.
SetChange change_for_jobs(const api::SampleSet& before, const api::SampleSet& after);

}  // namespace paddle::controllers::placement
