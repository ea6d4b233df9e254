// SPDX-License-Identifier: Apache-2.0
//
// Finds the end of one JSON value in a stream of bytes without building the value: brackets are
// matched and strings skipped, the rest of the grammar is left to the parser of the text. Nesting
// is bounded as in api::parse_json. The chunking of the bytes makes no difference.

#pragma once

#include <bitset>
#include <string_view>

#include "api/json/json.h"
#include "base/result.h"

namespace paddle::kube {

class ValueScanner {
 public:
  // Consumes the bytes of the value and returns their number; the rest is not touched. The first
  // byte after reset() must be the first of the value. kInternal when brackets do not match.
  Result<size_t> feed(std::string_view bytes);

  // A number, true, false or null has no terminator: it is done when another byte follows it.
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
