// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/observe/runtime_poller.h"

#include <algorithm>
#include <atomic>

#include "base/parallel_for.h"

namespace paddle::controllers::sample_set {
namespace {

constexpr std::size_t kParallelPolls = 16;

Result<std::optional<runtime::JobReport>> find_job(runtime::RuntimeClient& client,
                                                   const std::string& id, std::stop_token stop) {
  if (id.empty()) return std::optional<runtime::JobReport>{};
  auto report = client.job(id, stop);
  if (report.is(Code::kNotFound)) return std::optional<runtime::JobReport>{};
  if (!report) return std::move(report).error();
  return std::optional(*std::move(report));
}

Result<> poll_one(runtime::RuntimeClient& client, const PolledJobs& jobs, std::stop_token stop,
                  RuntimeReport& report) {
  TRY(report.sync, find_job(client, jobs.names.sync, stop));
  const auto part = std::ranges::find(jobs.parts, report.partition, &api::JobPartition::index);
  if (part != jobs.parts.end()) {
    TRY(report.part, find_job(client, part->id, stop));
  }
  TRY(report.warmup, find_job(client, jobs.names.warmup, stop));
  TRY(report.status, client.status(stop));
  return Done{};
}

}  // namespace

PollResult poll_runtimes(const runtime::RuntimeClientFactory& clients,
                         const std::vector<RunningRuntime>& runtimes,
                         const runtime::RuntimeCredentials& credentials, const PolledJobs& jobs,
                         std::stop_token stop) {
  PollResult result{.reports = std::vector<RuntimeReport>(runtimes.size())};
  std::atomic<bool> refused = false;
  const auto poll = [&](std::size_t i) -> Result<> {
    const int partition = runtimes[i].partition;
    RuntimeReport report{.partition = partition};
    const auto client = clients(runtimes[i].address, credentials);
    if (auto done = poll_one(*client, jobs, stop, report); !done) {
      if (runtime::refuses_access(done.error())) refused = true;
      report = {.partition = partition,
                .error = "runtime " + std::to_string(partition) +
                         " does not answer: " + done.error().message};
    }
    result.reports[i] = std::move(report);
    return Done{};
  };
  (void)parallel_for(runtimes.size(), kParallelPolls, poll);  // failures are in the reports
  result.credentials_refused = refused;
  return result;
}

}  // namespace paddle::controllers::sample_set
