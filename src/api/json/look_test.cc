// SPDX-License-Identifier: Apache-2.0
#include "api/json/look.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::api {
namespace {

const Json kObject = {{"spec", {{"name", "a"}, {"count", 3}, {"on", true}}},
                      {"list", Json::array({1})}};

TEST(Look, FindsByKeyAndByPointer) {
  EXPECT_EQ(look(kObject, "list").size(), 1u);
  EXPECT_EQ(look_text(kObject, "/spec/name"), "a");
  EXPECT_EQ(look_integer(kObject, "/spec/count"), 3);
  EXPECT_TRUE(look_flag(look(kObject, "spec"), "on"));
  EXPECT_EQ(look_list(kObject, "/list"), Json::array({1}));
}

TEST(Look, WhatIsMissingOrOfAnotherKindIsAbsent) {
  EXPECT_TRUE(look(kObject, "nothing").is_null());
  EXPECT_TRUE(look(kObject, "/spec/name/deeper").is_null());
  EXPECT_TRUE(look(Json("text"), "key").is_null());
  EXPECT_EQ(look_text(kObject, "/spec/count"), "");
  EXPECT_EQ(look_integer(kObject, "/spec/name", 7), 7);
  EXPECT_FALSE(look_flag(kObject, "/spec/name"));
  EXPECT_EQ(look_list(kObject, "/spec/name"), Json::array());
  EXPECT_EQ(look_list(kObject, "nothing"), Json::array());
}

}  // namespace
}  // namespace paddle::api
