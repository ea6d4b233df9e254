// SPDX-License-Identifier: Apache-2.0
//
// Finds the end of one JSON value in a stream of bytes without building the value: brackets are
// matched and strings skipped, the rest of the grammar is left to whoever parses the text. Nesting
// is bounded like api::parse_json's. Feeding the same bytes in other pieces gives the same answers.

#pragma once

#include <bitset>
#include <string_view>

#include "api/json/json.h"
#include "base/result.h"

namespace paddle::kube {

class ValueScanner {
 public:
  // Consumes what belongs to the value and returns how many bytes that was; the rest is not
  // touched. The first byte fed after reset() must be the value's first. kInternal when brackets do
  // not match.
  Result<size_t> feed(std::string_view bytes);

  // A number, true, false or null has no end of its own: it is done when a byte follows it.
  bool done() const { return state_ == State::kDone; }
  void reset() { state_ = State::kStart, depth_ = 0; }

 private:
  enum class State { kStart, kInside, kString, kEscape, kScalar, kDone };

  Result<> open(char bracket);
  Result<> close(char bracket);

  State state_ = State::kStart;
  size_t depth_ = 0;
  std::bitset<api::kMaxDepth> braces_{};  // true: '{', false: '['
};

// Space between values.
inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace paddle::kube
