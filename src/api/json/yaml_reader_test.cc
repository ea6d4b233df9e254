// SPDX-License-Identifier: Apache-2.0
#include "api/json/yaml_reader.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::api {
namespace {

std::string read(const std::string& text) {
  auto value = parse_yaml(text);
  return value ? dump_json(*value) : value.error().message;
}

TEST(YamlReader, ReadsMapsSequencesAndScalars) {
  EXPECT_EQ(read("a: 1\nb:\n- x\n- {c: true, d: ~}\ne: 'true'\n"),
            R"({"a":1,"b":["x",{"c":true,"d":null}],"e":"true"})");
  EXPECT_EQ(read(R"({"json": [1, "2", null]})"), R"({"json":[1,"2",null]})");
  EXPECT_EQ(read(""), "null");
}

TEST(YamlReader, ANumberThatWouldChangeStaysText) {
  EXPECT_EQ(read("[0123, 1.10, 1e5, 12, -3, 0x1f, 1.5, 99999999999999999999999]"),
            R"(["0123","1.10","1e5",12,-3,"0x1f",1.5,"99999999999999999999999"])");
}

TEST(YamlReader, AliasesAreCopies) {
  EXPECT_EQ(read("a: &x {k: 1}\nb: *x\nc: &y s\nd: *y\n"),
            R"({"a":{"k":1},"b":{"k":1},"c":"s","d":"s"})");
}

TEST(YamlReader, AnAliasBombIsRefused) {
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int n = 0; n < 9; ++n) bomb += "," + last;
    bomb += "]\n";
  }
  EXPECT_NE(read(bomb).find("too many values"), std::string::npos) << read(bomb).substr(0, 200);

  std::string wide = "a: &a '" + std::string(100'000, 'x') + "'\nb: [";
  for (int n = 0; n < 1000; ++n) wide += "*a,";
  EXPECT_NE(read(wide + "]").find("too many values"), std::string::npos);
}

TEST(YamlReader, LoopsDepthSizeAndDuplicatesAreRefused) {
  EXPECT_NE(read("a: &a [*a]").find("within its own anchor"), std::string::npos);
  EXPECT_NE(read(std::string(200, '[')).find("not usable YAML"), std::string::npos);
  EXPECT_NE(read(std::string(100, '[') + std::string(100, ']')).find("nested too deeply"),
            std::string::npos);
  EXPECT_NE(read(std::string(100'000, '[')).find("not usable YAML"), std::string::npos);
  EXPECT_NE(read(std::string(kMaxYamlBytes + 1, 'x')).find("larger than"), std::string::npos);
  EXPECT_NE(read("a: 1\na: 2\n").find("line 2: the key 'a' appears twice"), std::string::npos);
  EXPECT_NE(read("? [a]\n: b\n").find("not a scalar"), std::string::npos);
}

TEST(YamlReader, WhatIsNotYamlIsOneError) {
  for (const char* bad :
       {"a: [", "a: b: c", "\t- x", "*nowhere", "a: \"unterminated", "%BAD\n---\n- a: }"}) {
    EXPECT_TRUE(parse_yaml(bad).is(Code::kInvalid)) << bad;
  }
}

}  // namespace
}  // namespace paddle::api
