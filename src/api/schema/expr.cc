// SPDX-License-Identifier: Apache-2.0
#include "api/schema/expr.h"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

namespace paddle::api {
namespace {

using Op = Expr::Op;

Expr at(Op root, std::string_view path) {
  Expr expr{.op = root};
  while (!path.empty()) {
    const size_t dot = path.find('.');
    expr =
        Expr{.op = Op::kField, .text = std::string(path.substr(0, dot)), .args = {std::move(expr)}};
    path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
  }
  return expr;
}

Expr node(Op op, std::vector<Expr> args, std::string text = {}) {
  return Expr{.op = op, .text = std::move(text), .args = std::move(args)};
}

// Names that CEL cannot spell are escaped as Kubernetes prescribes.
std::string escaped(const std::string& name) {
  static const std::set<std::string> kReserved{
      "true", "false",    "null", "in",     "as",  "break", "const",   "continue",  "else",
      "for",  "function", "if",   "import", "let", "loop",  "package", "namespace", "return"};
  if (kReserved.contains(name)) return "__" + name + "__";
  std::string out;
  for (const char c : name) {
    if (c == '-') {
      out += "__dash__";
    } else if (c == '.') {
      out += "__dot__";
    } else {
      out += c;
    }
  }
  return out;
}

std::string joined(const Expr& expr, const char* by, Op apart) {
  std::string out;
  for (const Expr& arg : expr.args) {
    if (!out.empty()) out += by;
    out += arg.op == apart ? "(" + to_cel(arg) + ")" : to_cel(arg);
  }
  return out;
}

std::string infix(const Expr& expr, const char* by) {
  return to_cel(expr.args[0]) + by + to_cel(expr.args[1]);
}

bool is_compound(const Expr& expr) {
  switch (expr.op) {
    case Op::kAnd:
    case Op::kOr:
    case Op::kEqual:
    case Op::kLess:
    case Op::kLessOrEqual:
    case Op::kIn:
      return true;
    default:
      return false;
  }
}

}  // namespace

Expr self(std::string_view path) { return at(Op::kSelf, path); }
Expr old_self(std::string_view path) { return at(Op::kOldSelf, path); }
Expr element(std::string_view path) { return at(Op::kElement, path); }
Expr lit(const char* text) { return Expr{.literal = Json(text)}; }
Expr lit(int number) { return Expr{.literal = Json(number)}; }
Expr equal(Expr a, Expr b) { return node(Op::kEqual, {std::move(a), std::move(b)}); }
Expr less(Expr a, Expr b) { return node(Op::kLess, {std::move(a), std::move(b)}); }
Expr at_most(Expr a, Expr b) { return node(Op::kLessOrEqual, {std::move(a), std::move(b)}); }
Expr in(Expr a, const std::vector<const char*>& values) {
  return node(Op::kIn, {std::move(a), Expr{.literal = Json(values)}});
}
Expr matches(Expr a, const char* pattern) { return node(Op::kMatches, {std::move(a)}, pattern); }
Expr size(Expr a) { return node(Op::kSize, {std::move(a)}); }
Expr all_of(Expr list, Expr each) { return node(Op::kAllOf, {std::move(list), std::move(each)}); }
Expr both(std::vector<Expr> all) { return node(Op::kAnd, std::move(all)); }
Expr either(std::vector<Expr> any) { return node(Op::kOr, std::move(any)); }
Expr negate(Expr a) { return node(Op::kNot, {std::move(a)}); }
Expr implies(Expr given, Expr then) { return either({negate(std::move(given)), std::move(then)}); }

Expr has(const Expr& path) {
  std::vector<Expr> steps;
  for (const Expr* at = &path; at->op == Op::kField; at = &at->args[0]) {
    steps.push_back(node(Op::kHas, {*at}));
  }
  std::reverse(steps.begin(), steps.end());
  return steps.size() == 1 ? std::move(steps[0]) : both(std::move(steps));
}

Expr unchanged(std::string_view path) {
  const Expr now = self(path), then = old_self(path);
  return either(
      {both({has(now), has(then), equal(now, then)}), both({negate(has(now)), negate(has(then))})});
}

Expr unchanged_flag(std::string_view path) {
  const Expr now = both({has(self(path)), self(path)});
  const Expr then = both({has(old_self(path)), old_self(path)});
  return either({both({now, then}), both({negate(now), negate(then)})});
}

std::string to_cel(const Expr& expr) {
  switch (expr.op) {
    case Op::kSelf:
      return "self";
    case Op::kOldSelf:
      return "oldSelf";
    case Op::kElement:
      return "item";
    case Op::kField:
      return to_cel(expr.args[0]) + "." + escaped(expr.text);
    case Op::kLiteral:
      return dump_json(*expr.literal);
    case Op::kHas:
      return "has(" + to_cel(expr.args[0]) + ")";
    case Op::kEqual:
      return infix(expr, " == ");
    case Op::kLess:
      return infix(expr, " < ");
    case Op::kLessOrEqual:
      return infix(expr, " <= ");
    case Op::kIn:
      return infix(expr, " in ");
    case Op::kMatches:
      return to_cel(expr.args[0]) + ".matches(" + dump_json(expr.text) + ")";
    case Op::kSize:
      return "size(" + to_cel(expr.args[0]) + ")";
    case Op::kAllOf:
      return to_cel(expr.args[0]) + ".all(item, " + to_cel(expr.args[1]) + ")";
    case Op::kAnd:
      return joined(expr, " && ", Op::kOr);
    case Op::kOr:
      return joined(expr, " || ", Op::kAnd);
    case Op::kNot: {
      const std::string inner = to_cel(expr.args[0]);
      return is_compound(expr.args[0]) ? "!(" + inner + ")" : "!" + inner;
    }
  }
  return {};
}

bool uses_old_self(const Expr& expr) {
  return expr.op == Op::kOldSelf || std::ranges::any_of(expr.args, uses_old_self);
}

}  // namespace paddle::api
