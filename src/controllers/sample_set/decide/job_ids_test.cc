// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/job_ids.h"

#include <gtest/gtest.h>

#include "controllers/sample_set/testing/model_cluster.h"

namespace paddle::controllers::sample_set {
namespace {

TEST(SampleSetJobIds, AreDerivedFromThePreviousId) {
  auto set = model_set(3);
  const std::string first = warm_up_id(set, 1, "");
  EXPECT_EQ(first, "warmup-01234567-1-3");
  EXPECT_EQ(warm_up_id(set, 1, first), first);
  const std::string lost = warm_up_after_loss(warm_up_after_failure(first));
  EXPECT_EQ(lost, first + "-l1");
  EXPECT_EQ(warm_up_after_failure(warm_up_after_failure(lost)), first + "-l1-r2");
  EXPECT_EQ(warm_up_after_loss(first + "-l1-r2"), first + "-l2");
  EXPECT_EQ(warm_up_round(first + "-l1-r2"), first);
  EXPECT_EQ(warm_up_id(set, 1, first + "-l1-r2"), first + "-l1-r2");
  set.spec.partitions = 2;
  const std::string fewer = warm_up_id(set, 1, lost);
  EXPECT_EQ(fewer, "warmup-01234567-1-2-v1");
  EXPECT_EQ(warm_up_id(set, 1, warm_up_after_loss(fewer)), warm_up_after_loss(fewer));
  set.spec.partitions = 3;
  EXPECT_EQ(warm_up_id(set, 1, warm_up_after_loss(fewer)), first + "-v2");
  EXPECT_EQ(warm_up_id(set, 2, first + "-v2"), "warmup-01234567-2-3-v3");
  EXPECT_EQ(next_sync_id(set, ""), "sync-01234567-0");
  EXPECT_EQ(next_sync_id(set, "sync-01234567-9"), "sync-01234567-10");
  set.meta.uid = "a-r2-l3b";  // no number at the end of the id
  EXPECT_EQ(warm_up_round(warm_up_id(set, 1, "")), "warmup-a-r2-l3b-1-3");
}

}  // namespace
}  // namespace paddle::controllers::sample_set
