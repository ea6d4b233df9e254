// SPDX-License-Identifier: Apache-2.0
//
// The JSON value that Kubernetes objects are made of. A header that only mentions Json includes
// this file; a file that uses its members includes <nlohmann/json.hpp>.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

namespace paddle::api {

using Json = nlohmann::json;

// Never throws. kInvalid with the position when the text is not JSON, is not UTF-8, or is nested
// deeper than kMaxDepth (a hostile text must not overflow the stack).
inline constexpr int kMaxDepth = 128;
Result<Json> parse_json(std::string_view text);

// Compact text. Never throws: invalid UTF-8 in strings is replaced.
std::string dump_json(const Json& value);

// JSON that a value carries without interpreting it: pod templates, unknown fields. Immutable and
// shared, so that copying a value copies no JSON; empty when there is none. Safe to share between
// threads. Compares by the JSON that it holds.
class Opaque {
 public:
  Opaque() = default;
  Opaque(Json value);

  explicit operator bool() const { return held_ != nullptr; }
  const Json& operator*() const { return *held_; }  // not when empty
  const Json* get() const { return held_.get(); }   // null when empty
  const Json* operator->() const { return held_.get(); }
  friend bool operator==(const Opaque& a, const Opaque& b);

 private:
  std::shared_ptr<const Json> held_{};
};

}  // namespace paddle::api
