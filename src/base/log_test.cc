// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace paddle::log {
namespace {

class LogTest : public testing::Test {
 protected:
  void SetUp() override {
    set_sink([this](std::string_view line) { lines_ += line; });
  }
  void TearDown() override {
    set_sink({});
    set_format(Format::kText);
    set_level(Level::kInfo);
  }
  std::string lines_;
};

TEST_F(LogTest, AHostileValueCannotForgeALine) {
  info("read", {{"name", "a\nerror \"b\" \x01"}, {"count", 3}});
  EXPECT_EQ(std::count(lines_.begin(), lines_.end(), '\n'), 1);
  EXPECT_NE(lines_.find(R"(name="a\nerror \"b\" \u0001" count=3)"), std::string::npos) << lines_;
}

TEST_F(LogTest, JsonKeepsNumbersAndBooleansBare) {
  set_format(Format::kJson);
  warn("slow", {{"ms", 12}, {"late", true}, {"key", "ns/a"}});
  EXPECT_NE(lines_.find(R"("level":"warn","message":"slow","ms":12,"late":true,"key":"ns/a"})"),
            std::string::npos)
      << lines_;
}

TEST_F(LogTest, WhatIsBelowTheLevelIsNotWritten) {
  debug("hidden");
  EXPECT_EQ(lines_, "");
}

}  // namespace
}  // namespace paddle::log
