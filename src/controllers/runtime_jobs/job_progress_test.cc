// SPDX-License-Identifier: Apache-2.0
#include "controllers/runtime_jobs/job_progress.h"

#include <gtest/gtest.h>

namespace paddle::controllers::runtime_jobs {
namespace {

TEST(JobProgress, ProgressTextShowsBytesOrElseFiles) {
  EXPECT_EQ(progress_text({}), "");
  EXPECT_EQ(progress_text({.files_done = 1200}), "1,200 files");
  EXPECT_EQ(progress_text({.files_total = 10, .files_done = 5}), "50% 5/10 files");
  EXPECT_EQ(progress_text({.bytes_total = 4 << 20, .bytes_done = 1 << 20}), "25% 1.0 MiB/4.0 MiB");
  EXPECT_EQ(progress_text({.bytes_total = 10, .bytes_done = 20}), "100% 20 B/10 B");
}

TEST(JobProgress, PartitionsAddUpAndTheSlowestGivesTheTimeLeft) {
  std::vector<api::JobPartition> parts(2);
  parts[0].work = api::Work{.files_total = 1, .bytes_total = 10, .bytes_done = 1, .eta_seconds = 9};
  parts[1].work = api::Work{.files_total = 2, .bytes_total = 20, .bytes_done = 2, .eta_seconds = 5};
  const api::Work all = sum(parts);
  EXPECT_EQ(all.files_total, 3);
  EXPECT_EQ(all.bytes_total, 30);
  EXPECT_EQ(all.bytes_done, 3);
  EXPECT_EQ(all.eta_seconds, 9);
}

TEST(JobProgress, ListsOnlyTheFirstFailures) {
  std::vector<api::JobPartition> parts;
  for (int i = 0; i < 5; ++i) parts.push_back({.index = i, .state = kFailed, .message = "no"});
  EXPECT_EQ(failures_text(parts), "partition 0: no; partition 1: no; partition 2: no; and 2 more");
}

TEST(JobProgress, AJobThatEveryRuntimeDoesWholeCountsEachFileOnce) {
  std::vector<api::JobPartition> parts = {
      {.index = 0, .state = "Succeeded", .work = api::Work{.files_total = 10, .files_done = 10}},
      {.index = 1, .state = "Running", .work = api::Work{.files_total = 10, .files_done = 4}}};
  EXPECT_EQ(common_work(parts).files_total, 10);
  EXPECT_EQ(common_work(parts).files_done, 4);
  parts[1] = {.index = 1, .state = "Pending"};
  EXPECT_EQ(common_work(parts).files_done, 0);
  parts[1] = {
      .index = 1, .state = "Succeeded", .work = api::Work{.files_total = 7, .files_done = 7}};
  EXPECT_EQ(common_work(parts).files_done, 10);
  EXPECT_EQ(sum(parts).files_done, 17);
}

}  // namespace
}  // namespace paddle::controllers::runtime_jobs
