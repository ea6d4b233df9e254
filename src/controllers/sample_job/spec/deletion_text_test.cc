// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/spec/deletion_text.h"

#include <gtest/gtest.h>

#include "controllers/sample_job/testing/plan_fixture.h"

namespace paddle::controllers::sample_job {
namespace {

TEST(DeletionText, NamesWhatIsRemovedAndTheUserWhoAsked) {
  api::SampleJob job = job_of("rmr");
  job.spec.rmr->paths = {"/a", "/b", "/c", "/d", "/e"};
  job.meta.annotations[kRequestedBy] = "alice";
  EXPECT_EQ(deletion_text(job), "rmr removes '/a', '/b', '/c' and 2 more; requested by 'alice'");
}

TEST(DeletionText, SaysWhenNobodyIsNamed) {
  EXPECT_EQ(deletion_text(job_of("rmr")),
            "rmr removes '/train'; requested by an unknown user: the job has no annotation "
            "batch.paddlepaddle.org/requested-by");
}

TEST(DeletionText, ASyncThatDeletesIsNamedAndOneThatOnlyListsIsNot) {
  api::SampleJob job = job_of("sync");
  job.meta.annotations[kRequestedBy] = "bob";
  EXPECT_EQ(deletion_text(job), "");
  job.spec.sync = api::SyncOptions{.delete_src = true};
  EXPECT_EQ(deletion_text(job),
            "delete-src deletes at the source what has been copied; requested by 'bob'");
  job.spec.sync = api::SyncOptions{.delete_dst = true};
  EXPECT_EQ(deletion_text(job),
            "delete-dst deletes in the set what the source lacks; requested by 'bob'");
  job.spec.sync->dry = true;
  EXPECT_EQ(deletion_text(job), "");
  EXPECT_EQ(deletion_text(job_of("warmup")), "");
}

}  // namespace
}  // namespace paddle::controllers::sample_job
