// SPDX-License-Identifier: Apache-2.0
#include "api/schema/expr.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/crd/describe.h"
#include "api/schema/pattern.h"

namespace paddle::api {
namespace {

std::optional<bool> holds(const Expr& expr, const Json& value) {
  return evaluate(expr, value, nullptr);
}

TEST(ToCel, RendersValidCel) {
  EXPECT_EQ(to_cel(implies(has(self("a")), at_most(self("a"), lit(3)))),
            "!has(self.a) || self.a <= 3");
  EXPECT_EQ(to_cel(has(self("a.b"))), "has(self.a) && has(self.a.b)");
  EXPECT_EQ(to_cel(negate(has(self("a.b")))), "!(has(self.a) && has(self.a.b))");
  EXPECT_EQ(to_cel(both({either({self("a"), self("b")}), self("c")})),
            "(self.a || self.b) && self.c");
  EXPECT_EQ(to_cel(in(self("a"), {"x", "y"})), R"(self.a in ["x","y"])");
  EXPECT_EQ(to_cel(matches(self("a"), "^\\.\"$")), R"(self.a.matches("^\\.\"$"))");
  EXPECT_EQ(to_cel(all_of(self("a"), less(size(element()), lit(2)))),
            "self.a.all(item, size(item) < 2)");
  EXPECT_EQ(to_cel(self("namespace.sub-dir")), "self.__namespace__.sub__dash__dir");
  EXPECT_EQ(to_cel(unchanged("a")),
            "(has(self.a) && has(oldSelf.a) && self.a == oldSelf.a) || (!has(self.a) && "
            "!has(oldSelf.a))");
}

TEST(Evaluate, FollowsCelOnMissingFields) {
  EXPECT_EQ(holds(self("a"), Json::object()), std::nullopt);
  EXPECT_EQ(holds(both({self("a"), equal(lit(1), lit(2))}), Json::object()), false);
  EXPECT_EQ(holds(either({self("a"), equal(lit(1), lit(1))}), Json::object()), true);
  EXPECT_EQ(holds(either({self("a"), equal(lit(1), lit(2))}), Json::object()), std::nullopt);
  EXPECT_EQ(holds(negate(self("a")), Json::object()), std::nullopt);
  EXPECT_EQ(holds(has(self("a.b")), Json::object()), false);
}

TEST(Evaluate, NeverTrustsTypes) {
  const Json odd{{"a", "text"}, {"b", {1, 2}}, {"c", 2.5}};
  EXPECT_EQ(holds(less(self("a"), lit(3)), odd), std::nullopt);
  EXPECT_EQ(holds(less(self("c"), lit(3)), odd), std::nullopt);
  EXPECT_EQ(holds(matches(self("b"), "x"), odd), std::nullopt);
  EXPECT_EQ(holds(all_of(self("a"), element()), odd), std::nullopt);
  EXPECT_EQ(holds(size(self("c")), odd), std::nullopt);
  EXPECT_EQ(holds(has(self("a.b")), odd), std::nullopt);
  EXPECT_EQ(holds(self("x.y.z"), Json()), std::nullopt);
}

TEST(Evaluate, CountsCharactersNotBytes) {
  EXPECT_EQ(holds(equal(size(self("a")), lit(2)), {{"a", "数据"}}), true);
  EXPECT_EQ(characters("数据a"), 3u);
}

TEST(Evaluate, ComparesWithTheOldObject) {
  const Expr same = unchanged("a");
  const Json one{{"a", 1}}, two{{"a", 2}}, none = Json::object();
  EXPECT_EQ(evaluate(same, one, &one), true);
  EXPECT_EQ(evaluate(same, one, &two), false);
  EXPECT_EQ(evaluate(same, one, &none), false);
  EXPECT_EQ(evaluate(same, none, &none), true);
  const Expr flag = unchanged_flag("f");
  const Json off{{"f", false}}, on{{"f", true}};
  EXPECT_EQ(evaluate(flag, off, &none), true);
  EXPECT_EQ(evaluate(flag, on, &off), false);
  EXPECT_TRUE(uses_old_self(same));
  EXPECT_FALSE(uses_old_self(has(self("a"))));
}

TEST(Pattern, IsLinearOnHostileText) {
  const std::string hostile(1'000'000, 'a');
  EXPECT_FALSE(matches_pattern(hostile, "^(a+)+$x"));
  EXPECT_FALSE(matches_pattern(hostile + "!", "^(([a-z])+.)+[A-Z]([a-z])+$"));
  EXPECT_FALSE(matches_pattern("a", "(["));
}

// Two rules with the same text would share one meaning; a rule without a message explains nothing.
TEST(Describe, GivesEveryRuleOfTheSchemaAMeaningAndAMessage) {
  size_t rules = 0;
  const std::function<void(const Json&, const Description&)> walk = [&](const Json& schema,
                                                                        const Description& about) {
    for (const auto& [key, part] : schema.items()) {
      if (key == "x-kubernetes-validations") {
        for (const Json& rule : part) {
          ++rules;
          EXPECT_TRUE(about.rules.contains(rule["rule"])) << rule;
          EXPECT_FALSE(rule["message"].get<std::string>().empty());
        }
      } else if (part.is_structured()) {
        walk(part, about);
      }
    }
  };
  for (const Kind kind : kAllKinds) walk(*describe(kind).schema, describe(kind));
  EXPECT_GE(rules, 20u);
}

}  // namespace
}  // namespace paddle::api
