// SPDX-License-Identifier: Apache-2.0
//
// A validation rule, written once: the same expression is rendered as CEL for the CRD and evaluated
// here on JSON. It covers the part of CEL that our rules need.
//
// Evaluation follows CEL: reading a missing field, or comparing values of different types, is an
// error; `false && error` is false and `true || error` is true in either order; an error as the
// result counts as a failed rule, as it does at the API server.
//
// Paths are dotted ("spec.worker.replicas") and start at self, at oldSelf or at the current element
// of all_of(). has() guards every step, so a rule need not know which parents are optional.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"

namespace paddle::api {

struct Expr {
  enum class Op {
    kSelf,
    kOldSelf,
    kElement,  // roots
    kField,    // args[0].text
    kLiteral,
    kHas,  // args[0] is a kField
    kEqual,
    kLess,
    kLessOrEqual,
    kIn,
    kMatches,  // args[0] matches the RE2 pattern in text, unanchored
    kSize,
    kAllOf,  // every element of args[0] satisfies args[1]
    kAnd,
    kOr,
    kNot
  };
  Op op = Op::kLiteral;
  std::string text{};
  Opaque literal{};
  std::vector<Expr> args{};
};

Expr self(std::string_view path = {});
Expr old_self(std::string_view path = {});
Expr element(std::string_view path = {});
Expr lit(const char* text);
Expr lit(int number);
Expr has(const Expr& path);
Expr equal(Expr a, Expr b);
Expr less(Expr a, Expr b);
Expr at_most(Expr a, Expr b);
Expr in(Expr a, const std::vector<const char*>& values);
Expr matches(Expr a, const char* pattern);
Expr size(Expr a);
Expr all_of(Expr list, Expr each);
Expr both(std::vector<Expr> all);    // and
Expr either(std::vector<Expr> any);  // or
Expr negate(Expr a);
Expr implies(Expr given, Expr then);
// self.path and oldSelf.path are both absent, or equal.
Expr unchanged(std::string_view path);
// The same for a flag, where absent is false.
Expr unchanged_flag(std::string_view path);

// A rule of one struct, found by argument-dependent lookup like fields(): rules(Tag<Role>).
struct Rule {
  Expr expr{};
  std::string message{};
};
using Rules = std::vector<Rule>;
template <typename T>
struct Tag {};
template <typename T>
Rules rules(Tag<T>) {
  return {};
}

std::string to_cel(const Expr& expr);
bool uses_old_self(const Expr& expr);

// nullopt is CEL's error. `old` may be null when the expression does not use oldSelf.
std::optional<bool> evaluate(const Expr& expr, const Json& self, const Json* old);

}  // namespace paddle::api
