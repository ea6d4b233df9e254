// SPDX-License-Identifier: Apache-2.0
//
// What to do next for one SampleJob, decided from values alone.
//
//   ""  ->  Pending (the condition Ready says what it waits for)  ->  Running  ->  Succeeded |
//   Failed
//
// Properties that the tests prove:
//   - a converged world yields an empty plan;
//   - the id of an attempt is in the status before any runtime receives it, and is never reused;
//   - a part that is known to have succeeded is never requested again;
//   - nothing is requested while the set, its runtimes or the Secret are missing; the job continues
//     by itself when they appear. Without a runtime no job succeeds.

#pragma once

#include "api/sample_job.h"
#include "base/clock.h"
#include "controllers/sample_job/actions.h"
#include "controllers/sample_job/config.h"
#include "controllers/sample_job/world.h"

namespace paddle::controllers::sample_job {

Plan desired(const api::SampleJob& job, const World& world, const Config& config, WallTime now);

}  // namespace paddle::controllers::sample_job
