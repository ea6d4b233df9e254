// SPDX-License-Identifier: Apache-2.0
//
// The rules of spec.failurePolicy, applied to pods. A rule that the API server would reject (an
// unknown action or operator, no criterion) matches nothing. Pure.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/paddle_job.h"

namespace paddle::controllers::paddle_job {

enum class FailureAction { kFail, kRestart, kIgnore };

struct MatchedRule {
  FailureAction action = FailureAction::kRestart;
  size_t number = 0;              // from 1
  const api::Pod* pod = nullptr;  // the first that it matches
};

// The first rule that matches any of these pods; nothing without one. A container that was
// restarted in place counts with its last exit.
std::optional<MatchedRule> match_rules(const api::PaddleJobSpec& spec,
                                       const std::vector<const api::Pod*>& pods);

}  // namespace paddle::controllers::paddle_job
