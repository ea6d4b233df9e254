// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/command/set_path.h"

#include <gtest/gtest.h>

namespace paddle::engine::juicefs {
namespace {

TEST(SetPath, StaysBeneathTheRoot) {
  EXPECT_EQ(*path_in_set("/a//b/./c/"), "a/b/c");
  EXPECT_EQ(*path_in_set("/"), "");
  EXPECT_EQ(*path_in_set("..."), "...");
  for (const char* wrong : {"..", "a/../b", "/../etc", "a\nb"}) {
    EXPECT_TRUE(path_in_set(wrong).is(Code::kInvalid)) << wrong;
  }
  EXPECT_TRUE(path_in_set("a/" + std::string(255, 'x')));
  EXPECT_TRUE(path_in_set(std::string(256, 'x') + "/a").is(Code::kInvalid));
}

}  // namespace
}  // namespace paddle::engine::juicefs
