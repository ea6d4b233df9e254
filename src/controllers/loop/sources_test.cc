// SPDX-License-Identifier: Apache-2.0
#include "controllers/loop/sources.h"

#include <gtest/gtest.h>

#include "api/sample_set.h"

namespace paddle::controllers {
namespace {

using kube::resources::kNodes;
using kube::resources::kPaddleJobs;

api::Meta child_of(const std::string& api_version, const std::string& kind,
                   bool controller = true) {
  return {.key = {"ns", "child"},
          .owners = {{.api_version = api_version,
                      .kind = kind,
                      .name = "owner",
                      .uid = "u",
                      .controller = controller}}};
}

TEST(Sources, ControllingKeyIsThatOfTheControllerOfTheGivenKind) {
  EXPECT_EQ(controlling_key(child_of("batch.paddlepaddle.org/v1", "PaddleJob"), kPaddleJobs),
            (ObjectKey{"ns", "owner"}));
  EXPECT_EQ(controlling_key(child_of("batch.paddlepaddle.org/v9", "PaddleJob"), kPaddleJobs),
            (ObjectKey{"ns", "owner"}));
  EXPECT_EQ(controlling_key(child_of("v1", "Node"), kNodes), (ObjectKey{"", "owner"}));
}

TEST(Sources, ControllingKeyIgnoresOtherOwners) {
  EXPECT_FALSE(controlling_key({.key = {"ns", "orphan"}}, kPaddleJobs));
  EXPECT_FALSE(controlling_key(child_of("other.org/v1", "PaddleJob"), kPaddleJobs));
  EXPECT_FALSE(controlling_key(child_of("batch.paddlepaddle.org/v1", "SampleSet"), kPaddleJobs));
  EXPECT_FALSE(
      controlling_key(child_of("batch.paddlepaddle.org/v1", "PaddleJob", false), kPaddleJobs));
}

TEST(Sources, AChangeOfTheStatusAloneIsNoChangeOfTheSpec) {
  api::SampleSet before{.meta = {.key = {"ns", "set"}, .uid = "u", .resource_version = "1"}};
  api::SampleSet after = before;
  after.meta.resource_version = "2";
  after.status.phase = "Ready";
  EXPECT_FALSE(spec_changed(&before, &after));
  after.spec.partitions = 2;
  EXPECT_TRUE(spec_changed(&before, &after));
  after = before;
  after.meta.annotations["a"] = "b";
  EXPECT_TRUE(spec_changed(&before, &after));
  const api::SampleSet* none = nullptr;
  EXPECT_TRUE(spec_changed(none, &after));
  EXPECT_TRUE(spec_changed(&before, none));
}

}  // namespace
}  // namespace paddle::controllers
