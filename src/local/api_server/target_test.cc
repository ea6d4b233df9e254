// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/target.h"

#include <gtest/gtest.h>

namespace paddle::local {
namespace {

TEST(Target, HasADecodedPathAndQuery) {
  const auto target = parse_target("/api/v1/pods/?labelSelector=a%3Db%2Cc&watch=true&x+y=1+2&flag");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, (std::vector<std::string>{"api", "v1", "pods"}));
  EXPECT_EQ((*target)["labelSelector"], "a=b,c");
  EXPECT_EQ((*target)["x y"], "1 2");
  EXPECT_TRUE(target->is_true("watch"));
  EXPECT_TRUE(target->is_true("flag"));
  EXPECT_FALSE(target->is_true("absent"));
}

TEST(Target, HasNoSegmentsForTheRoot) {
  ASSERT_TRUE(parse_target("/"));
  EXPECT_TRUE(parse_target("/")->path.empty());
}

TEST(Target, RejectsHostileTargets) {
  for (const char* text :
       {"", "api", "*", "http://x/api", "//api", "/api//v1", "/api/../etc", "/api/%2e%2e/x",
        "/api/./x", "/api/%2Fetc", "/api/%00", "/api/%", "/api/%4", "/api/%zz", "/api/%+1",
        "/api/a%0ab", "/api?x=%0a", "/api?%=1"}) {
    EXPECT_FALSE(parse_target(text)) << text;
  }
}

}  // namespace
}  // namespace paddle::local
