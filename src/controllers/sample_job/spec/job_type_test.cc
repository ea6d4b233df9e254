// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/spec/job_type.h"

#include <gtest/gtest.h>

namespace paddle::controllers::sample_job {
namespace {

api::SampleSet plain_set() {
  api::SampleSet set;
  set.meta.key = {"ns", "imagenet"};
  set.spec.source = api::SampleSource{.uri = "bos://imagenet.bj.bcebos.com/demo"};
  set.spec.cache = api::Cache{.levels = {{.path = "/ssd/a:/ssd/b"}}};
  return set;
}

api::SampleJob job_typed(const std::string& type) {
  api::SampleJob job;
  job.meta.key = {"ns", "job"};
  job.spec.type = type;
  return job;
}

Result<runtime::JobRequest> request_for(const api::SampleJob& job, const api::SampleSet& set,
                                        int partition, int partitions) {
  return job_type(job.spec.type).request(job, set, partition, partitions);
}

TEST(SampleJobType, ASyncWithoutOptionsCopiesTheSourceOfTheSet) {
  const auto request = request_for(job_typed("sync"), plain_set(), 1, 3);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->sync, engine::SyncTask{});
  EXPECT_EQ(request->which, engine::Selection{});
}

TEST(SampleJobType, SyncOptionsKeepTheirMeaning) {
  auto job = job_typed("sync");
  job.spec.sync = api::SyncOptions{.source = "s3://b/x",
                                   .destination = "/train/",
                                   .threads = 20,
                                   .update = true,
                                   .delete_dst = true,
                                   .include = "*.jpg,*.png",
                                   .bwlimit = 100,
                                   .no_https = true};
  const auto request = request_for(job, plain_set(), 0, 1);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->sync.source, "s3://b/x");
  EXPECT_EQ(request->sync.destination, "train");
  EXPECT_EQ(request->sync.threads, 20);
  EXPECT_TRUE(request->sync.update);
  EXPECT_TRUE(request->sync.delete_destination);
  EXPECT_EQ(request->sync.include, (std::vector<std::string>{"*.jpg", "*.png"}));
  EXPECT_EQ(request->sync.exclude, (std::vector<std::string>{"*"}));
  EXPECT_EQ(request->sync.megabits, 100);
  EXPECT_TRUE(request->sync.no_https);
}

TEST(SampleJobType, RemovedOptionsAreRejectedOrWarnedAbout) {
  auto job = job_typed("sync");
  job.spec.sync = api::SyncOptions{.manager = "10.0.0.1"};
  EXPECT_TRUE(request_for(job, plain_set(), 0, 1).is(Code::kInvalid));
  job.spec.sync = api::SyncOptions{.http_port = 6070};
  EXPECT_TRUE(request_for(job, plain_set(), 0, 1));
  EXPECT_NE(job_type("sync").warning(job.spec), "");
  auto bare = plain_set();
  bare.spec.source.reset();
  EXPECT_TRUE(request_for(job_typed("sync"), bare, 0, 1).is(Code::kInvalid));
}

TEST(SampleJobType, AVerificationExpectsThePartOfTheSetsOwnWarmUp) {
  auto job = job_typed("verify");
  job.spec.verify = api::VerifyOptions{.paths = {"/train/"}, .repair = true, .threads = 2};
  auto set = plain_set();
  set.spec.warmup = api::AutoWarmup{.strategy = {.name = "random", .seed = 7}};
  const auto request = request_for(job, set, 1, 3);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->kind, runtime::JobKind::kVerify);
  EXPECT_EQ(request->which.paths, std::vector<std::string>{"train"});
  EXPECT_EQ(request->which.partition, 1);
  EXPECT_EQ(request->which.partitions, 3);
  EXPECT_EQ(request->which.strategy.order, sampler::Order::kRandom);
  EXPECT_EQ(request->which.threads, 2);
  EXPECT_TRUE(request->which.repair);
  const auto plain = request_for(job_typed("verify"), plain_set(), 0, 1);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->which, engine::Selection{});
}

TEST(SampleJobType, AWarmUpRequestHasItsPartitionAndStrategy) {
  auto job = job_typed("warmup");
  job.spec.warmup = api::WarmupOptions{
      .paths = {"/train", "val/"},
      .strategy = {.name = "distributedBatch", .batch_size = 32, .ranks = 8, .seed = 7},
      .threads = 9};
  const auto request = request_for(job, plain_set(), 1, 3);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->which.paths, (std::vector<std::string>{"train", "val"}));
  EXPECT_EQ(request->which.partition, 1);
  EXPECT_EQ(request->which.partitions, 3);
  EXPECT_EQ(request->which.strategy.order, sampler::Order::kDistributedBatch);
  EXPECT_EQ(request->which.strategy.ranks, 8);
  EXPECT_EQ(request->which.strategy.seed, 7u);
  EXPECT_EQ(request->which.lists_at, "imagenet-runtime-0.imagenet-runtime-service.ns:7716");
  job.spec.warmup->paths = {"/train", "/"};
  EXPECT_TRUE(request_for(job, plain_set(), 1, 3)->which.paths.empty());
}

TEST(SampleJobType, ARemovalNamesPathsButNeverTheRoot) {
  auto job = job_typed("rmr");
  EXPECT_TRUE(request_for(job, plain_set(), 0, 1).is(Code::kInvalid));
  job.spec.rmr = api::RmrOptions{.paths = {"/train", "val/n1"}, .skip_trash = true};
  const auto request = request_for(job, plain_set(), 0, 1);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->which.paths, (std::vector<std::string>{"train", "val/n1"}));
  EXPECT_TRUE(request->which.skip_trash);
  job.spec.rmr->paths = {"train", "//"};
  EXPECT_TRUE(request_for(job, plain_set(), 0, 1).is(Code::kInvalid));
}

TEST(SampleJobType, ClearingACacheDirectoryClearsTheWholeSet) {
  auto job = job_typed("clear");
  EXPECT_TRUE(request_for(job, plain_set(), 1, 2)->which.paths.empty());
  for (const char* root : {"/ssd/a", "/ssd/b/", "/cache/dev-shm-imagenet", "/dev/shm/imagenet"}) {
    job.spec.clear = api::ClearOptions{.paths = {root}};
    EXPECT_TRUE(request_for(job, plain_set(), 1, 2)->which.paths.empty()) << root;
  }
  job.spec.clear = api::ClearOptions{.paths = {"/train"}};
  const auto request = request_for(job, plain_set(), 1, 2);
  EXPECT_EQ(request->which.paths, (std::vector<std::string>{"train"}));
  EXPECT_EQ(request->which.partitions, 1);
}

TEST(SampleJobType, PathsMeanTheSameHoweverTheyAreWritten) {
  auto job = job_typed("warmup");
  job.spec.warmup = api::WarmupOptions{.paths = {"./train", "val//x/"}, .file = "./list.txt"};
  auto request = request_for(job, plain_set(), 0, 1);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->which.paths, (std::vector<std::string>{"train", "val/x"}));
  EXPECT_EQ(request->which.file, "list.txt");
  job.spec.warmup = api::WarmupOptions{.paths = {"train", "."}};
  request = request_for(job, plain_set(), 0, 1);
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->which.paths.empty()) << "that is the whole set";
  job = job_typed("rmr");
  job.spec.rmr = api::RmrOptions{.paths = {"/./"}};
  EXPECT_TRUE(request_for(job, plain_set(), 0, 1).is(Code::kInvalid));
}

TEST(SampleJobType, PathsThatOnlyBeginLikeACacheDirectoryAreSamples) {
  auto job = job_typed("clear");
  job.spec.clear = api::ClearOptions{.paths = {"/cached_train", "/cache-val"}};
  auto request = request_for(job, plain_set(), 0, 1);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->which.paths, (std::vector<std::string>{"cached_train", "cache-val"}));
  job.spec.clear = api::ClearOptions{.paths = {"/cache/ssd-a"}};
  request = request_for(job, plain_set(), 0, 1);
  ASSERT_TRUE(request);
  EXPECT_TRUE(request->which.paths.empty());
}

TEST(SampleJobType, RegularExpressionsAreRejectedAndGlobsAreNot) {
  for (const char* pattern : {"/2017-[0-9]{2}/", ".*jpg", "\\.tmp$", "a|b"}) {
    auto job = job_typed("sync");
    job.spec.sync = api::SyncOptions{.exclude = pattern};
    EXPECT_TRUE(request_for(job, plain_set(), 0, 1).is(Code::kInvalid)) << pattern;
  }
  auto job = job_typed("sync");
  job.spec.sync = api::SyncOptions{.exclude = "*.tmp,2017-[0-9][0-9],._*"};
  EXPECT_TRUE(request_for(job, plain_set(), 0, 1));
}

}  // namespace
}  // namespace paddle::controllers::sample_job
