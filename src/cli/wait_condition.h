// SPDX-License-Identifier: Apache-2.0
//
// The condition of `wait`, and whether an object meets it, may still meet it, or never will. Pure.

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
  std::string value{};              // of a condition's status or of a field; "": any
  bool operator==(const WaitCondition&) const = default;
};

// "condition=Ready", "condition=Ready=False", "jsonpath={.status.phase}=Ready",
// "jsonpath={.status.podIP}", "phase=Ready", "cached" (a SampleSet is Ready and completely cached),
// "delete". kInvalid lists these.
Result<WaitCondition> parse_wait_condition(const std::string& text);

struct WaitState {
  enum class Progress { kMet, kNotYet, kNever };
  Progress progress = Progress::kNotYet;
  std::string reason{};  // for kNever: a sentence
  bool operator==(const WaitState&) const = default;
};

// kNever: the controller has observed the current spec and the object has reached a final phase: a
// PaddleJob Completed or Failed, a SampleJob or Pod Succeeded or Failed.
// A SampleSet never is: a sync that failed is retried.
WaitState evaluate(const WaitCondition& condition, const api::Json& object);

// The condition of that type in status.conditions, or null.
const api::Json* condition_of(const api::Json& object, const std::string& type);

// The message that explains an object's state: that of its Ready condition, or of the first
// condition that is not True; empty when there is none. It names our commands instead of kubectl's.
std::string explanation(const api::Json& object);

}  // namespace paddle::cli
