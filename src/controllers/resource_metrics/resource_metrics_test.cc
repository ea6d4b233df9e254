// SPDX-License-Identifier: Apache-2.0
#include "controllers/resource_metrics/resource_metrics.h"

#include <sstream>

#include <gtest/gtest.h>

namespace paddle::controllers {
namespace {

using std::chrono::seconds;

// The lines of the metrics that begin with `name`, without those of buckets.
std::vector<std::string> lines(const Metrics& metrics, const std::string& name) {
  std::vector<std::string> found;
  std::istringstream text(metrics.text());
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with(name) && line.find("_bucket{") == line.npos) found.push_back(line);
  }
  std::ranges::sort(found);
  return found;
}
using Lines = std::vector<std::string>;

api::PaddleJob job_in(const std::string& phase) {
  api::PaddleJob job;
  job.meta = {.key = {"t", "j"}, .created = WallTime{seconds{1000}}};
  job.status.phase = phase;
  return job;
}

TEST(PaddleJobMetrics, CountJobsByPhaseAsTheyChange) {
  Metrics metrics;
  const PaddleJobMetrics reporter(metrics);
  const auto fresh = job_in(""), pending = job_in("Pending");
  reporter.change(nullptr, &fresh);
  reporter.change(nullptr, &pending);
  EXPECT_EQ(lines(metrics, "paddle_jobs{"),
            (Lines{"paddle_jobs{namespace=\"t\",phase=\"New\"} 1",
                   "paddle_jobs{namespace=\"t\",phase=\"Pending\"} 1"}));
  reporter.change(&fresh, &pending);
  reporter.change(&pending, &pending);
  reporter.change(&pending, nullptr);
  EXPECT_EQ(lines(metrics, "paddle_jobs{"),
            (Lines{"paddle_jobs{namespace=\"t\",phase=\"New\"} 0",
                   "paddle_jobs{namespace=\"t\",phase=\"Pending\"} 1"}));
}

TEST(PaddleJobMetrics, MeasureTheTimeUntilAllPodsRanOnce) {
  Metrics metrics;
  const PaddleJobMetrics reporter(metrics);
  const auto pending = job_in("Pending");
  auto running = job_in("Running");
  running.status.start_time = WallTime{seconds{1090}};
  reporter.change(nullptr, &running);  // found at the start of this process
  EXPECT_EQ(lines(metrics, "paddle_job_queue_seconds"), Lines{});
  reporter.change(&pending, &running);
  auto done = running;
  done.status.phase = "Completed";
  done.status.completion_time = WallTime{seconds{2090}};
  reporter.change(&running, &done);
  reporter.change(&done, &done);
  EXPECT_EQ(lines(metrics, "paddle_job_queue_seconds"),
            (Lines{"paddle_job_queue_seconds_count{namespace=\"t\"} 1",
                   "paddle_job_queue_seconds_sum{namespace=\"t\"} 90"}));
  EXPECT_EQ(lines(metrics, "paddle_job_duration_seconds"),
            (Lines{"paddle_job_duration_seconds_count{namespace=\"t\",phase=\"Completed\"} 1",
                   "paddle_job_duration_seconds_sum{namespace=\"t\",phase=\"Completed\"} 1000"}));
}

TEST(PaddleJobMetrics, CountRestartsByTheirCause) {
  Metrics metrics;
  const PaddleJobMetrics reporter(metrics);
  const auto before = job_in("Running");
  auto after = before;
  after.status.epoch = 3;
  after.status.failures = 1;
  after.status.disruptions = 1;
  reporter.change(&before, &after);
  reporter.change(&after, &before);  // a server that was restored does not count backwards
  EXPECT_EQ(lines(metrics, "paddle_job_restarts_total"),
            (Lines{"paddle_job_restarts_total{cause=\"disruption\",namespace=\"t\"} 1",
                   "paddle_job_restarts_total{cause=\"failure\",namespace=\"t\"} 1",
                   "paddle_job_restarts_total{cause=\"other\",namespace=\"t\"} 1"}));
}

TEST(SampleSetMetrics, ShowBytesAndTheLastSyncUntilTheSetIsGone) {
  Metrics metrics;
  const SampleSetMetrics reporter(metrics);
  api::SampleSet set;
  set.meta.key = {"t", "imagenet"};
  reporter.change(nullptr, &set);
  EXPECT_EQ(lines(metrics, "paddle_sample_set_"), Lines{}) << "nothing is known yet";
  auto synced = set;
  synced.status.phase = "Ready";
  synced.status.cache = api::CacheStatus{.total_bytes = 2000, .cached_bytes = 500};
  synced.status.index = api::IndexStatus{.generation = 1, .sync_time = WallTime{seconds{1234}}};
  reporter.change(&set, &synced);
  const std::string who = "{namespace=\"t\",sampleset=\"imagenet\"} ";
  EXPECT_EQ(lines(metrics, "paddle_sample_set_"),
            (Lines{"paddle_sample_set_cached_bytes" + who + "500",
                   "paddle_sample_set_last_sync_timestamp_seconds" + who + "1234",
                   "paddle_sample_set_total_bytes" + who + "2000"}));
  EXPECT_EQ(lines(metrics, "paddle_sample_sets"),
            (Lines{"paddle_sample_sets{namespace=\"t\",phase=\"New\"} 0",
                   "paddle_sample_sets{namespace=\"t\",phase=\"Ready\"} 1"}));
  reporter.change(&synced, nullptr);
  EXPECT_EQ(lines(metrics, "paddle_sample_set_"), Lines{});
}

TEST(SampleJobMetrics, CountByTypeAndMeasureJobsThatEnd) {
  Metrics metrics;
  const SampleJobMetrics reporter(metrics);
  api::SampleJob schedule;
  schedule.meta.key = {"t", "nightly"};
  schedule.spec.type = "sync";
  schedule.spec.schedule = "@daily";
  reporter.change(nullptr, &schedule);
  api::SampleJob running;
  running.meta.key = {"t", "warm"};
  running.spec.type = "warmup";
  running.status.phase = "Running";
  running.status.start_time = WallTime{seconds{100}};
  reporter.change(nullptr, &running);
  auto done = running;
  done.status.phase = "Succeeded";
  done.status.completion_time = WallTime{seconds{160}};
  reporter.change(&running, &done);
  EXPECT_EQ(lines(metrics, "paddle_sample_jobs"),
            (Lines{"paddle_sample_jobs{namespace=\"t\",phase=\"Running\",type=\"warmup\"} 0",
                   "paddle_sample_jobs{namespace=\"t\",phase=\"Scheduled\",type=\"sync\"} 1",
                   "paddle_sample_jobs{namespace=\"t\",phase=\"Succeeded\",type=\"warmup\"} 1"}));
  const std::string labels = "{namespace=\"t\",phase=\"Succeeded\",type=\"warmup\"} ";
  EXPECT_EQ(lines(metrics, "paddle_sample_job_duration_seconds"),
            (Lines{"paddle_sample_job_duration_seconds_count" + labels + "1",
                   "paddle_sample_job_duration_seconds_sum" + labels + "60"}));
}

}  // namespace
}  // namespace paddle::controllers
