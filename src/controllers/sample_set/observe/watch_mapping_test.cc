// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/observe/watch_mapping.h"

#include <gtest/gtest.h>

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

TEST(SampleSetWatchMapping, OnlyAnUnfinishedJobUsesItsSet) {
  api::PaddleJob job{.meta = {.key = {"train", "resnet"}}};
  EXPECT_TRUE(set_of_job(job).empty());
  job.spec.sample_set.emplace().name = "imagenet";
  EXPECT_EQ(set_of_job(job), (std::vector<api::ObjectKey>{{"train", "imagenet"}}));
  job.status.phase = "Completed";
  EXPECT_TRUE(set_of_job(job).empty());
}

}  // namespace
}  // namespace paddle::controllers::sample_set
