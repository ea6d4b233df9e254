// SPDX-License-Identifier: Apache-2.0
#include "controllers/loop/health.h"

#include <gtest/gtest.h>

namespace paddle::controllers {
namespace {

net::ServerReply get(const std::string& path, HealthState state, const std::string& query = {}) {
  return health_reply({"GET", path, query}, state);
}

TEST(Health, ReturnsOkOrTheFailedCheck) {
  EXPECT_EQ(get("/healthz", {}).body, "ok");
  EXPECT_EQ(get("/healthz/health", {}).status, 200);
  EXPECT_EQ(get("/readyz", {.ready = true}).body, "ok");
  EXPECT_EQ(get("/readyz", {.ready = false}).status, 500);
  EXPECT_NE(get("/readyz/check", {.ready = false}).body.find("[-]check failed"), std::string::npos);
}

TEST(Health, AProcessWithAPassThatDoesNotEndIsNotAlive) {
  using namespace std::chrono_literals;
  EXPECT_TRUE(is_alive(0s));
  EXPECT_TRUE(is_alive(29min));
  EXPECT_FALSE(is_alive(30min));
  EXPECT_EQ(get("/healthz", {.alive = false}).status, 500);
  EXPECT_NE(get("/healthz/health", {.alive = false}).body.find("[-]health failed"),
            std::string::npos);
}

TEST(Health, VerboseListsTheCheck) {
  EXPECT_EQ(get("/healthz", {}, "verbose=").body, "[+]health ok\nhealthz check passed\n");
  EXPECT_EQ(get("/readyz", {.ready = true}, "a=1&verbose=").body,
            "[+]check ok\nreadyz check passed\n");
}

TEST(Health, OtherPathsAreNotFound) {
  for (const char* path : {"/", "/metrics", "/healthz/check", "/readyz/health", "/healthzz"}) {
    EXPECT_EQ(get(path, {.ready = true}).status, 404) << path;
  }
}

}  // namespace
}  // namespace paddle::controllers
