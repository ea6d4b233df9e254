// SPDX-License-Identifier: Apache-2.0
//
// The meaning of Expr on JSON. Recursion follows the rule, which we wrote, not the object.

#include <nlohmann/json.hpp>

#include "api/schema/expr.h"
#include "api/schema/pattern.h"

namespace paddle::api {
namespace {

using Op = Expr::Op;

struct Scope {
  const Json* self = nullptr;
  const Json* old = nullptr;
  const Json* element = nullptr;
};

std::optional<bool> truth(const Expr& expr, const Scope& scope);

// The JSON a path leads to; null when it leads nowhere.
const Json* locate(const Expr& expr, const Scope& scope) {
  switch (expr.op) {
    case Op::kSelf:
      return scope.self;
    case Op::kOldSelf:
      return scope.old;
    case Op::kElement:
      return scope.element;
    case Op::kLiteral:
      return expr.literal.get();
    case Op::kField: {
      const Json* parent = locate(expr.args[0], scope);
      if (!parent || !parent->is_object()) return nullptr;
      const auto found = parent->find(expr.text);
      return found == parent->end() ? nullptr : &*found;
    }
    default:
      return nullptr;
  }
}

std::optional<Json> value_of(const Expr& expr, const Scope& scope) {
  if (expr.op == Op::kSize) {
    const Json* of = locate(expr.args[0], scope);
    if (!of) return {};
    if (of->is_string()) return Json(characters(of->get_ref<const std::string&>()));
    if (of->is_array() || of->is_object()) return Json(of->size());
    return {};
  }
  const Json* found = locate(expr, scope);
  if (!found) return {};
  return *found;
}

std::optional<bool> compare(const Expr& expr, const Scope& scope) {
  const auto a = value_of(expr.args[0], scope), b = value_of(expr.args[1], scope);
  if (!a || !b || a->is_number_float() || b->is_number_float()) return {};  // 2.0 is no int to CEL
  if (expr.op == Op::kEqual) return *a == *b;
  if (!a->is_number() || !b->is_number()) return {};
  return expr.op == Op::kLess ? *a < *b : *a <= *b;
}

// Both connectives: `settles` is the value that decides alone (false for and, true for or).
std::optional<bool> connect(const Expr& expr, const Scope& scope, bool settles) {
  bool unsure = false;
  for (const Expr& arg : expr.args) {
    const auto one = truth(arg, scope);
    if (one == settles) return settles;
    unsure = unsure || !one;
  }
  if (unsure) return {};
  return !settles;
}

std::optional<bool> each(const Expr& expr, const Scope& scope) {
  const Json* list = locate(expr.args[0], scope);
  if (!list || !list->is_array()) return {};
  bool unsure = false;
  for (const Json& item : *list) {
    const auto one = truth(expr.args[1], {scope.self, scope.old, &item});
    if (one == false) return false;
    unsure = unsure || !one;
  }
  if (unsure) return {};
  return true;
}

std::optional<bool> truth(const Expr& expr, const Scope& scope) {
  switch (expr.op) {
    case Op::kAnd:
      return connect(expr, scope, false);
    case Op::kOr:
      return connect(expr, scope, true);
    case Op::kNot: {
      const auto inner = truth(expr.args[0], scope);
      if (!inner) return {};
      return !*inner;
    }
    case Op::kHas: {
      const Json* parent = locate(expr.args[0].args[0], scope);
      if (!parent || !parent->is_object()) return {};
      return parent->contains(expr.args[0].text);
    }
    case Op::kEqual:
    case Op::kLess:
    case Op::kLessOrEqual:
      return compare(expr, scope);
    case Op::kIn: {
      const Json* one = locate(expr.args[0], scope);
      if (!one) return {};
      for (const Json& candidate : *expr.args[1].literal) {
        if (candidate == *one) return true;
      }
      return false;
    }
    case Op::kMatches: {
      const Json* one = locate(expr.args[0], scope);
      if (!one || !one->is_string()) return {};
      return matches_pattern(one->get_ref<const std::string&>(), expr.text);
    }
    case Op::kAllOf:
      return each(expr, scope);
    default: {
      const Json* flag = locate(expr, scope);
      if (!flag || !flag->is_boolean()) return {};
      return flag->get<bool>();
    }
  }
}

}  // namespace

std::optional<bool> evaluate(const Expr& expr, const Json& self, const Json* old) {
  return truth(expr, {&self, old, nullptr});
}

}  // namespace paddle::api
