// SPDX-License-Identifier: Apache-2.0
#include "api/json/json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::api {
namespace {

TEST(ParseJson, RefusesInvalidJsonInOneSentence) {
  for (const char* text : {"", "{", "{\"a\":}", "nul", "\"\xff\"", "{} {}"}) {
    EXPECT_TRUE(parse_json(text).is(Code::kInvalid)) << text;
  }
}

TEST(ParseJson, RefusesNestingThatWouldOverflowTheStack) {
  EXPECT_TRUE(parse_json(std::string(100'000, '[')).is(Code::kInvalid));
  const std::string deep = std::string(kMaxDepth, '[') + std::string(kMaxDepth, ']');
  EXPECT_TRUE(parse_json(deep));
}

TEST(DumpJson, NeverThrowsOnBrokenText) {
  EXPECT_EQ(dump_json(Json(std::string("a\xff"))), "\"a\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace paddle::api
