// SPDX-License-Identifier: Apache-2.0
//
// What to ask the runtimes of a SampleSet, and what their answers mean for a World. Values
// only.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/sample_set.h"
#include "controllers/runtime_poller/poll_state.h"
#include "controllers/sample_set/decide/runtime_liveness.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

// The status of each runtime, and the jobs that the set's status names.
std::vector<PolledRuntime> polls_of(const api::SampleSet& set,
                                    const std::vector<RunningRuntime>& runtimes,
                                    const runtime::RuntimeCredentials& credentials);

// `answer` absent: it has not been asked yet.
RuntimeReport report_from(const api::SampleSet& set, const RunningRuntime& runtime,
                          const std::optional<RuntimeAnswer>& answer);

}  // namespace paddle::controllers::sample_set
