// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/credential_rollout.h"

#include <gtest/gtest.h>

#include "controllers/sample_set/decide/job_ids.h"
#include "controllers/sample_set/testing/model_cluster.h"

namespace paddle::controllers::sample_set {
namespace {

TEST(SampleSetCredentialRollout, AFailedSyncIsRetriedWhenRuntimesHaveNewCredentials) {
  ModelCluster model(model_set());
  model.world.secret_versions = "u/1";
  model.sync_error = "access denied";
  model.settle(8);
  EXPECT_EQ(model.set.status.phase, "SyncFailed");
  for (int tries = 0; tries < 4; ++tries) {  // the retry delay grows
    model.now += retry_delay(model.set.status.jobs->sync);
    model.settle(8);
  }
  const int tried = attempt_of(model.set.status.jobs->sync);
  EXPECT_TRUE(is_empty(model.pass()));

  model.sync_error.clear();
  model.world.secret_versions = "u/2";
  const auto annotated = only<AnnotatePodSecrets>(model.pass());
  ASSERT_EQ(annotated.size(), static_cast<size_t>(model.set.spec.effective_partitions()));
  EXPECT_EQ(annotated[0].value, "u/2 " + rfc3339(model.now));
  EXPECT_TRUE(only<AnnotatePodSecrets>(model.pass()).empty()) << "once per version";
  EXPECT_EQ(attempt_of(model.set.status.jobs->sync), tried)
      << "the kubelet has not updated the files yet";
  model.now += std::chrono::seconds{3};
  model.settle();
  EXPECT_EQ(model.set.status.phase, "Ready");
  EXPECT_EQ(attempt_of(model.set.status.jobs->sync), tried + 1);
}

}  // namespace
}  // namespace paddle::controllers::sample_set
