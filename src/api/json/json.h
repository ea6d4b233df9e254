// SPDX-License-Identifier: Apache-2.0
//
// The JSON value that Kubernetes objects are made of. Headers that only mention Json include this;
// files that touch its inside include <nlohmann/json.hpp>.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

namespace paddle::api {

using Json = nlohmann::json;

// Never throws: kInvalid with the position for text that is not JSON, is nested deeper than
// kMaxDepth (a hostile text must not overflow the stack), or is not UTF-8.
inline constexpr int kMaxDepth = 128;
Result<Json> parse_json(std::string_view text);

// Compact text; invalid UTF-8 in strings is replaced, never thrown about.
std::string dump_json(const Json& value);

// JSON that a value carries without looking inside: pod templates, unknown fields. Immutable and
// shared, so that copying a value copies no JSON; empty when there is none. Safe to share between
// threads. Equality is that of the JSON.
class Opaque {
 public:
  Opaque() = default;
  Opaque(Json value);

  explicit operator bool() const { return held_ != nullptr; }
  const Json& operator*() const { return *held_; }  // only when not empty
  const Json* get() const { return held_.get(); }   // null when empty
  const Json* operator->() const { return held_.get(); }
  friend bool operator==(const Opaque& a, const Opaque& b);

 private:
  std::shared_ptr<const Json> held_{};
};

}  // namespace paddle::api
