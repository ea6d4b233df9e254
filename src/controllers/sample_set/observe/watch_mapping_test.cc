// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/observe/watch_mapping.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/sample_set/testing/model_cluster.h"

namespace paddle::controllers::sample_set {
namespace {

TEST(SampleSetWatchMapping, SetsShareAVolumePathWithTheSameSecretAndSubDir) {
  auto one = model_set();
  auto other = one;
  other.meta.key.name = "coco";
  EXPECT_FALSE(share_volume_path(one, other)) << "without a Secret there is no volume";
  one.spec.secret = other.spec.secret = api::SecretReference{.name = "data-center"};
  EXPECT_FALSE(share_volume_path(one, one));
  EXPECT_TRUE(share_volume_path(one, other));
  other.spec.csi = api::Csi{.juicefs = api::JuiceFSMountOptions{.sub_dir = "/"}};
  EXPECT_TRUE(share_volume_path(one, other));
  other.spec.csi->juicefs->sub_dir = "coco";
  EXPECT_FALSE(share_volume_path(one, other));
  other.spec.csi.reset();
  other.spec.no_sync = true;
  EXPECT_FALSE(share_volume_path(one, other)) << "it does not sync";
  other.spec.no_sync = false;
  other.meta.key.ns = "elsewhere";
  EXPECT_FALSE(share_volume_path(one, other)) << "it is another Secret";
}

TEST(SampleSetWatchMapping, ASetIsOlderByItsTimeAndThenByItsUid) {
  const WallTime first{std::chrono::seconds(1'000)}, second{std::chrono::seconds(2'000)};
  const api::Meta one{.uid = "b", .created = first}, other{.uid = "a", .created = second};
  EXPECT_TRUE(is_older(one, other));
  EXPECT_FALSE(is_older(other, one));
  const api::Meta same{.uid = "c", .created = first};
  EXPECT_TRUE(is_older(one, same));
  EXPECT_FALSE(is_older(same, one));
  const api::Meta gone{.uid = "d"};
  EXPECT_TRUE(is_older(other, gone)) << "the set is deleted: it takes nothing from the living";
  EXPECT_FALSE(is_older(gone, other));
}

TEST(UserJob, IsKeptWithoutItsTemplatesAndCountsUntilItHasFinished) {
  api::Json object = api::Json::parse(R"({"metadata": {"namespace": "t", "name": "j", "uid": "u"},
      "spec": {"sampleSetRef": {"name": "imagenet"}, "worker": {"replicas": "not a number"}},
      "status": {"phase": "Running"}})");
  const auto job = decode_job_summary(object);
  ASSERT_TRUE(job) << "a job that its own controller rejects still uses the set";
  EXPECT_EQ(*job, (JobSummary{.key = {"t", "j"}, .uid = "u", .sample_set = "imagenet"}));
  EXPECT_EQ(set_of_job(*job), (std::vector<api::ObjectKey>{{"t", "imagenet"}}));
  object["status"]["phase"] = "Completed";
  EXPECT_TRUE(set_of_job(*decode_job_summary(object)).empty());
}

}  // namespace
}  // namespace paddle::controllers::sample_set
