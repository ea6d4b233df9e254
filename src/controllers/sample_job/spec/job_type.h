// SPDX-License-Identifier: Apache-2.0
//
// What runtimes are asked for a SampleJob. Pure.

#pragma once

#include <string>

#include "api/sample_job.h"
#include "api/sample_set.h"
#include "base/result.h"
#include "runtime/protocol/protocol.h"

namespace paddle::controllers::sample_job {

// The part of one partition. kInvalid: one sentence about an option that can not be honoured, with
// what to use instead.
Result<runtime::JobRequest> request_of(const api::SampleJob& job, const api::SampleSet& set,
                                       int partition, int partitions);

// A sync whose runtimes see one volume: they share it, unless it only looks or takes from the
// source.
bool may_be_shared(const api::SampleJob& job);

// An option that is accepted and changes nothing, in one sentence; empty: all mean something.
std::string remark_on(const api::SampleJob& job);

}  // namespace paddle::controllers::sample_job
