// SPDX-License-Identifier: Apache-2.0
//
// What a SampleJob deletes and who asked for it, for the event that remains when the job is gone.
//
// An operator does not see who created an object. The user writes it into an annotation, and the
// policy samplejob-requesters.paddlepaddle.org refuses the name of another user. Pure.

#pragma once

#include <string>

#include "api/sample_job.h"

namespace paddle::controllers::sample_job {

inline constexpr const char* kRequestedBy = "batch.paddlepaddle.org/requested-by";

// One sentence; empty: the job deletes nothing of the set or of its source. No URI: it may be long
// or, where it is wrong, hold a password.
std::string deletion_text(const api::SampleJob& job);

}  // namespace paddle::controllers::sample_job
