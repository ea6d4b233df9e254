// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/observe/orphan_checks.h"

#include <gtest/gtest.h>

namespace paddle::controllers::sample_job {
namespace {

const api::ObjectKey kChecked{"ns", "imagenet"};

TEST(OrphanChecksTest, EachSetIsCheckedOnceAndAgainWhenRequested) {
  OrphanChecks checks;
  auto pending = checks.pending(kChecked);
  ASSERT_TRUE(pending) << "nothing is known about it";
  checks.done(kChecked, *pending);
  EXPECT_FALSE(checks.pending(kChecked));
  checks.request(kChecked);
  pending = checks.pending(kChecked);
  ASSERT_TRUE(pending);
  checks.done(kChecked, *pending);
  EXPECT_FALSE(checks.pending(kChecked));
}

TEST(OrphanChecksTest, ACheckDoesNotAnswerARequestThatCameAfterItBegan) {
  OrphanChecks checks;
  const auto first = checks.pending(kChecked);
  ASSERT_TRUE(first);
  checks.request(kChecked);
  checks.done(kChecked, *first);
  const auto second = checks.pending(kChecked);
  ASSERT_TRUE(second);
  checks.done(kChecked, *second);
  EXPECT_FALSE(checks.pending(kChecked));
}

TEST(OrphanChecksTest, ASetOfTheSameNameIsCheckedAgain) {
  OrphanChecks checks;
  const auto first = checks.pending(kChecked);
  ASSERT_TRUE(first);
  checks.done(kChecked, *first);
  checks.forget(kChecked);
  EXPECT_TRUE(checks.pending(kChecked));
}

}  // namespace
}  // namespace paddle::controllers::sample_job
