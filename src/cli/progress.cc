// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <algorithm>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "api/phases.h"
#include "cli/wait_condition.h"

namespace paddle::cli {
namespace {

using api::Json;

std::string phase_of(const Json& object) {
  const std::string phase = api::look_text(object, "/status/phase");
  return phase.empty() ? api::paddle_job_phase::kPending : phase;
}

std::string sample_set_line(const Json& set) {
  const auto total = api::look_integer(set, "/status/cacheStatus/totalBytes");
  const auto cached = api::look_integer(set, "/status/cacheStatus/cachedBytes");
  if (total <= 0) {
    const std::string why = explanation(set);
    return phase_of(set) + (why.empty() ? "" : ": " + why);
  }
  const std::string line = phase_of(set) + " " + bar(cached, total) + ", " + human_bytes(cached) +
                           " of " + human_bytes(total) + " cached";
  const std::string why =
      phase_of(set) == api::sample_set_phase::kSyncFailed ? explanation(set) : "";
  return why.empty() ? line : line + ": " + why;
}

// The counters of a job that has ended are those of its last moment, when some pods still ran.
std::string ended_job_line(const Json& job) {
  const std::string why = phase_of(job) == api::paddle_job_phase::kFailed ? explanation(job) : "";
  return phase_of(job) + (why.empty() ? "" : ": " + why);
}

std::string paddle_job_line(const Json& job) {
  if (api::paddle_job_phase::is_final(phase_of(job))) return ended_job_line(job);
  std::int64_t wanted = 0, running = 0, ended = 0;
  const auto count = [&](const Json& status) {
    running += api::look_integer(status, "running");
    ended += api::look_integer(status, "succeeded") + api::look_integer(status, "failed");
  };
  for (const char* role : {"ps", "worker", "heter"}) {
    wanted += api::look_integer(api::look(api::look(job, "spec"), role), "replicas");
    count(api::look(api::look(job, "status"), role));
  }
  const Json& statuses = api::look(job, "/status/tasks");
  for (const Json& task : api::look_list(job, "/spec/tasks")) {
    wanted += api::look_integer(task, "replicas");
    const std::string name = api::look_text(task, "name");
    if (statuses.is_object() && statuses.contains(name)) count(statuses.at(name));
  }
  std::string line = phase_of(job) + ", " + std::to_string(running) + " of " +
                     std::to_string(wanted) + " pods running";
  if (ended > 0) line += ", " + std::to_string(ended) + " ended";
  const std::string why = explanation(job);
  return running == wanted || why.empty() ? line : line + ": " + why;
}

}  // namespace

std::string progress_line(const Json& object) {
  const std::string kind = api::look_text(object, "kind");
  if (kind == "SampleSet") return sample_set_line(object);
  if (kind == "PaddleJob") return paddle_job_line(object);
  const std::string why = explanation(object);
  return phase_of(object) + (why.empty() ? "" : ": " + why);
}

std::string bar(std::int64_t done, std::int64_t total, int width) {
  const double part =
      total > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0) : 0;
  const bool full = total > 0 && done >= total;
  const int marks = full ? width : std::min(static_cast<int>(part * width), width - 1);
  const int percent = full ? 100 : std::min(static_cast<int>(part * 100), 99);
  std::string text(static_cast<size_t>(width), '.');
  std::fill_n(text.begin(), marks, '#');
  char number[16];
  std::snprintf(number, sizeof number, "%3d %%", percent);
  return "[" + text + "] " + number;
}

std::string human_bytes(std::int64_t bytes) {
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s", value, kUnits[unit]);
  return text;
}

}  // namespace paddle::cli
