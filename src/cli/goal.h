// SPDX-License-Identifier: Apache-2.0
//
// What `wait` waits for, and whether an object is there, may still get there, or never will. Pure.

#pragma once

#include <string>
#include <vector>

#include "api/json.h"
#include "base/result.h"

namespace paddle::cli {

struct Goal {
  enum class Is { kCondition, kField, kCached, kDeleted };
  Is is = Is::kCondition;
  std::string condition{};          // its type
  std::vector<std::string> path{};  // of a field: names, or numbers within lists
  std::string value{};              // a condition's status or a field's text; "" any, for a field
  bool operator==(const Goal&) const = default;
};

// "condition=Ready", "condition=Ready=False", "jsonpath={.status.phase}=Ready",
// "jsonpath={.status.podIP}", "phase=Ready", "cached" (a SampleSet is Ready and all of it is in the
// cache), "delete". kInvalid names these.
Result<Goal> parse_goal(const std::string& text);

struct Judgement {
  enum class Is { kThere, kNotYet, kNever };
  Is is = Is::kNotYet;
  std::string reason{};  // of kNever: a sentence
  bool operator==(const Judgement&) const = default;
};

// An object whose controller has seen its present spec and which has ended can not change any more:
// a PaddleJob Completed or Failed, a SampleSet SyncFailed, a SampleJob or Pod Succeeded or Failed.
Judgement judge(const Goal& goal, const api::Json& object);

// The object's own words about the state it is in: the message of its Ready condition, or of the
// first condition that does not hold; empty when it has none.
std::string explanation(const api::Json& object);

}  // namespace paddle::cli
