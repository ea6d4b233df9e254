// SPDX-License-Identifier: Apache-2.0
//
// Label and field selectors as the API server reads them: parsed once, matched against objects.
//
//   labels  "app=web,tier!=db,env in (a, b),env notin (c),flag,!flag"
//   fields  "metadata.name=x,spec.nodeName!=n" over the few paths that the server indexes
//
// A pure value; an empty selector matches everything.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"

namespace paddle::kube {

struct Requirement {
  enum class Op { kIn, kNotIn, kExists, kAbsent };
  std::string key{};
  Op op = Op::kExists;
  std::vector<std::string> values{};
};

class Selector {
 public:
  // kInvalid when the text is not a selector, or names a field that the server does not index.
  static Result<Selector> parse(std::string_view labels, std::string_view fields);

  bool matches(const api::Json& object) const;

 private:
  std::vector<Requirement> labels_{};
  std::vector<Requirement> fields_{};
};

}  // namespace paddle::kube
