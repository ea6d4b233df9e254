// SPDX-License-Identifier: Apache-2.0
//
// What `wait` waits for, and whether an object is there, may still get there, or never will. Pure.

#pragma once

#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"

namespace paddle::cli {

struct WaitCondition {
  enum class Type { kCondition, kField, kCached, kDeleted };
  Type type = Type::kCondition;
  std::string condition{};          // its type
  std::vector<std::string> path{};  // of a field: names, or numbers within lists
  std::string value{};              // a condition's status or a field's text; "" any, for a field
  bool operator==(const WaitCondition&) const = default;
};

// "condition=Ready", "condition=Ready=False", "jsonpath={.status.phase}=Ready",
// "jsonpath={.status.podIP}", "phase=Ready", "cached" (a SampleSet is Ready and all of it is in the
// cache), "delete". kInvalid names these.
Result<WaitCondition> parse_wait_condition(const std::string& text);

struct WaitState {
  enum class Progress { kMet, kNotYet, kNever };
  Progress progress = Progress::kNotYet;
  std::string reason{};  // of kNever: a sentence
  bool operator==(const WaitState&) const = default;
};

// An object whose controller has seen its present spec and which has ended can not change any more:
// a PaddleJob Completed or Failed, a SampleSet SyncFailed, a SampleJob or Pod Succeeded or Failed.
WaitState evaluate(const WaitCondition& condition, const api::Json& object);

// The object's own words about the state it is in: the message of its Ready condition, or of the
// first condition that does not hold; empty when it has none.
std::string explanation(const api::Json& object);

}  // namespace paddle::cli
