// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/observe/runtime_reports.h"

#include <algorithm>

namespace paddle::controllers::sample_set {
namespace {

// The id of this partition's part of the first sync; empty: it has none.
std::string part_id(const api::SampleSet& set, int partition) {
  if (!set.status.sync) return "";
  const auto& parts = set.status.sync->parts;
  const auto part = std::ranges::find(parts, partition, &api::JobPartition::index);
  return part == parts.end() ? "" : part->id;
}

std::optional<runtime::JobReport> job_from(const RuntimeAnswer& answer, const std::string& id) {
  const auto* job = id.empty() ? nullptr : find_job(answer, id);
  return job ? std::optional(*job) : std::nullopt;
}

}  // namespace

std::vector<PolledRuntime> polls_of(const api::SampleSet& set,
                                    const std::vector<RunningRuntime>& runtimes,
                                    const runtime::RuntimeCredentials& credentials) {
  const api::JobsName names = set.status.jobs.value_or(api::JobsName{});
  std::vector<PolledRuntime> polls;
  for (const RunningRuntime& runtime : runtimes) {
    PolledRuntime poll{runtime.uid, {.address = runtime.address, .access = credentials}};
    for (const std::string& id : {names.sync, part_id(set, runtime.partition), names.warmup}) {
      if (!id.empty()) poll.call.jobs.push_back(id);
    }
    polls.push_back(std::move(poll));
  }
  return polls;
}

RuntimeReport report_from(const api::SampleSet& set, const RunningRuntime& runtime,
                          const std::optional<RuntimeAnswer>& answer) {
  RuntimeReport report{.partition = runtime.partition};
  const std::string name = "runtime " + std::to_string(runtime.partition);
  if (!answer) {
    report.error = name + " has not answered yet";
    return report;
  }
  if (answer->error) {
    report.error = name + " does not answer: " + answer->error->message;
    report.unreachable_for = std::chrono::floor<std::chrono::seconds>(answer->unreachable_for);
    return report;
  }
  const api::JobsName names = set.status.jobs.value_or(api::JobsName{});
  report.status = answer->report.status;
  report.sync = job_from(*answer, names.sync);
  report.part = job_from(*answer, part_id(set, runtime.partition));
  report.warmup = job_from(*answer, names.warmup);
  return report;
}

}  // namespace paddle::controllers::sample_set
