// SPDX-License-Identifier: Apache-2.0
//
// Everything in this controller that depends on spec.type, in one place. A runtime::JobKind without
// a description in job_type.cc does not compile. Pure.

#pragma once

#include <optional>
#include <string>

#include "api/sample_job.h"
#include "api/sample_set.h"
#include "base/result.h"
#include "runtime/protocol/protocol.h"

namespace paddle::controllers::sample_job {

struct JobType {
  std::optional<runtime::JobKind> kind{};  // absent: spec.type is not one that we know

  // The request for one partition. kInvalid: one sentence about an option that cannot be honoured,
  // with what to use instead.
  Result<runtime::JobRequest> (*request)(const api::SampleJob& job, const api::SampleSet& set,
                                         int partition, int partitions) = nullptr;
  // Whether runtimes that share a volume divide such a job: each does a part of one whole.
  bool (*is_divisible)(const api::SampleJobSpec& spec) = [](const auto&) { return false; };
  // One sentence about an option that is accepted and has no effect; empty: there is none.
  std::string (*warning)(const api::SampleJobSpec& spec) = [](const auto&) {
    return std::string();
  };

  bool exclusive = false;             // on a shared volume, one job of this type at a time
  bool waits_for_first_sync = false;  // until the first sync of the set has ended
  bool needs_source_keys = false;     // the Secret in spec.secretRef goes to the runtimes
  bool each_does_all = false;         // each runtime does the same, on its own cache

  // On a shared volume, the first runtime is enough.
  bool changes_volume() const { return kind && api::info_of(*kind).changes_set; }
};

// For a text that is no type, a JobType whose request() is kInvalid.
const JobType& job_type(const std::string& type);

}  // namespace paddle::controllers::sample_job
