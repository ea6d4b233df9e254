// SPDX-License-Identifier: Apache-2.0
#include "controllers/resource_metrics/resource_metrics.h"

#include <algorithm>
#include <chrono>

#include "api/phases.h"

namespace paddle::controllers {
namespace {

constexpr const char* kNew = "New";  // instead of an empty phase

std::string phase_or_new(const std::string& phase) { return phase.empty() ? kNew : phase; }

double seconds_between(WallTime from, WallTime to) {
  return std::max(0.0, std::chrono::duration<double>(to - from).count());
}

// Takes one object from the gauge of its labels before to that of its labels after.
void count(Metrics& metrics, const char* name, const char* help, const Labels* before,
           const Labels* after) {
  if (before && after && *before == *after) return;
  if (before) metrics.gauge(name, help, *before).Decrement();
  if (after) metrics.gauge(name, help, *after).Increment();
}

template <typename T, typename LabelsOf>
void count_by(const char* name, const char* help, Metrics& metrics, const T* before, const T* after,
              LabelsOf labels_of) {
  const Labels from = before ? labels_of(*before) : Labels{};
  const Labels to = after ? labels_of(*after) : Labels{};
  count(metrics, name, help, before ? &from : nullptr, after ? &to : nullptr);
}

}  // namespace

// ---- PaddleJobs ----

void PaddleJobMetrics::change(const api::PaddleJob* before, const api::PaddleJob* after) const {
  count_by(
      "paddle_jobs", "PaddleJobs by phase", *metrics_, before, after,
      [](const api::PaddleJob& job) {
        return Labels{{"namespace", job.meta.key.ns}, {"phase", phase_or_new(job.status.phase)}};
      });
  if (!before || !after) return;
  const std::string& ns = after->meta.key.ns;
  const api::PaddleJobStatus& was = before->status;
  const api::PaddleJobStatus& is = after->status;
  if (!was.start_time && is.start_time && after->meta.created) {
    metrics_
        ->long_seconds("paddle_job_queue_seconds",
                       "From a PaddleJob's creation until all of its pods first ran",
                       {{"namespace", ns}})
        .Observe(seconds_between(*after->meta.created, *is.start_time));
  }
  const auto add_restarts = [&](const char* cause, std::int64_t number) {
    if (number <= 0) return;
    metrics_
        ->counter("paddle_job_restarts_total", "Restarts of whole PaddleJobs",
                  {{"namespace", ns}, {"cause", cause}})
        .Increment(static_cast<double>(number));
  };
  const std::int64_t restarts = std::max<std::int64_t>(is.epoch - was.epoch, 0);
  const std::int64_t failures = std::clamp<std::int64_t>(is.failures - was.failures, 0, restarts);
  const std::int64_t disruptions =
      std::clamp<std::int64_t>(is.disruptions - was.disruptions, 0, restarts - failures);
  add_restarts("failure", failures);
  add_restarts("disruption", disruptions);
  add_restarts("other", restarts - failures - disruptions);

  using api::paddle_job_phase::is_final;
  if (!is_final(was.phase) && is_final(is.phase) && is.start_time && is.completion_time) {
    metrics_
        ->long_seconds("paddle_job_duration_seconds",
                       "From the first time that all pods of a PaddleJob ran until it ended",
                       {{"namespace", ns}, {"phase", is.phase}})
        .Observe(seconds_between(*is.start_time, *is.completion_time));
  }
}

// ---- SampleSets ----

void SampleSetMetrics::change(const api::SampleSet* before, const api::SampleSet* after) const {
  count_by(
      "paddle_sample_sets", "SampleSets by phase", *metrics_, before, after,
      [](const api::SampleSet& set) {
        return Labels{{"namespace", set.meta.key.ns}, {"phase", phase_or_new(set.status.phase)}};
      });
  const api::ObjectKey& key = (after ? after : before)->meta.key;
  const Labels labels{{"namespace", key.ns}, {"sampleset", key.name}};
  const auto put = [&](const char* name, const char* help, std::optional<double> value,
                       const Labels& of) {
    if (value) {
      metrics_->gauge(name, help, of).Set(*value);
    } else {
      metrics_->remove_gauge(name, help, of);
    }
  };
  const auto* cache = after && after->status.cache ? &*after->status.cache : nullptr;
  const auto* index = after && after->status.index ? &*after->status.index : nullptr;
  std::optional<double> total, cached, synced;
  if (cache) total = static_cast<double>(cache->total_bytes);
  if (cache) cached = static_cast<double>(cache->cached_bytes);
  if (index && index->sync_time) {
    synced = std::chrono::duration<double>(index->sync_time->time_since_epoch()).count();
  }
  put("paddle_sample_set_total_bytes", "Size of a SampleSet", total, labels);
  put("paddle_sample_set_cached_bytes", "Cached bytes of a SampleSet", cached, labels);
  put("paddle_sample_set_last_sync_timestamp_seconds",
      "When the list of files in use was published, in seconds since 1970", synced, labels);
}

// ---- SampleJobs ----

void SampleJobMetrics::change(const api::SampleJob* before, const api::SampleJob* after) const {
  count_by("paddle_sample_jobs", "SampleJobs by type and phase", *metrics_, before, after,
           [](const api::SampleJob& job) {
             const bool schedule = !job.spec.schedule.empty();  // it has runs instead of a phase
             return Labels{{"namespace", job.meta.key.ns},
                           {"type", job.spec.type},
                           {"phase", schedule ? "Scheduled" : phase_or_new(job.status.phase)}};
           });
  if (!before || !after) return;
  using api::sample_job_phase::is_final;
  const api::SampleJobStatus& is = after->status;
  if (is_final(before->status.phase) || !is_final(is.phase)) return;
  if (!is.start_time || !is.completion_time) return;
  metrics_
      ->long_seconds(
          "paddle_sample_job_duration_seconds",
          "From the start of a SampleJob on the runtimes until it ended",
          {{"namespace", after->meta.key.ns}, {"type", after->spec.type}, {"phase", is.phase}})
      .Observe(seconds_between(*is.start_time, *is.completion_time));
}

}  // namespace paddle::controllers
