// SPDX-License-Identifier: Apache-2.0
#include "local/node/pod_env.h"

#include <gtest/gtest.h>

namespace paddle::local {
namespace {

ObjectData objects() {
  return {.config_map = [](const std::string& name) -> std::optional<Data> {
            if (name == "job") return Data{{"PADDLE_PORT", "36000"}, {"PEERS", "a,b"}};
            return std::nullopt;
          },
          .secret = [](const std::string& name) -> std::optional<Data> {
            if (name == "keys") return Data{{"id", "me"}};
            return std::nullopt;
          }};
}

PodSpec pod() {
  PodSpec spec;
  spec.meta.key = {"train", "r-worker-0"};
  spec.meta.labels = {{"role", "worker"}};
  spec.meta.annotations = {{"epoch", "3"}, {"note", "a\n\"b\""}};
  return spec;
}

TEST(PodEnvironment, LaterEntriesWinAndSeeEarlierOnes) {
  Container c;
  c.env_from = {{.name = "job", .prefix = "X_"}, {.name = "job"}};
  c.env = {{.name = "PEERS", .value = "mine"},
           {.name = "URL", .value = "$(POD):$(PADDLE_PORT) $$(POD) $(UNKNOWN) 5$"},
           {.name = "POD", .field_path = "status.podIP"},
           {.name = "AFTER", .value = "$(POD)"},
           {.name = "KEY", .secret = "keys", .key = "id"}};
  const PodSpec spec = pod();
  const auto env = environment(c, {spec, "10.0.0.9", "10.0.0.1"}, objects());
  ASSERT_TRUE(env) << env.error().message;
  EXPECT_EQ(env->at("X_PEERS"), "a,b");
  EXPECT_EQ(env->at("PEERS"), "mine");
  EXPECT_EQ(env->at("URL"), "$(POD):36000 $(POD) $(UNKNOWN) 5$");
  EXPECT_EQ(env->at("AFTER"), "10.0.0.9");
  EXPECT_EQ(env->at("KEY"), "me");
}

TEST(PodEnvironment, NamesTheMissingObject) {
  const PodSpec spec = pod();
  Container c;
  c.env_from = {{.name = "later"}};
  const auto env = environment(c, {spec}, objects());
  ASSERT_TRUE(env.is(Code::kNotFound));
  EXPECT_EQ(env.error().message, "configmap \"later\" not found");

  c.env_from[0].optional = true;
  EXPECT_TRUE(environment(c, {spec}, objects()));

  c.env_from.clear();
  c.env = {{.name = "A", .secret = "keys", .key = "nokey"}};
  EXPECT_TRUE(environment(c, {spec}, objects()).is(Code::kNotFound));
}

TEST(FieldValue, SupportsTheDownwardApi) {
  const PodSpec spec = pod();
  const PodFacts facts{spec, "10.0.0.9", "10.0.0.1"};
  EXPECT_EQ(*field_value(facts, "metadata.annotations['epoch']"), "3");
  EXPECT_EQ(*field_value(facts, "metadata.labels['none']"), "");
  EXPECT_EQ(*field_value(facts, "metadata.annotations"), "epoch=\"3\"\nnote=\"a\\n\\\"b\\\"\"");
  EXPECT_EQ(*field_value(facts, "status.hostIP"), "10.0.0.1");
  EXPECT_TRUE(field_value(facts, "spec.secretThing").is(Code::kInvalid));
}

}  // namespace
}  // namespace paddle::local
