// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/observe/runtime_poller.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "engine/names.h"

namespace paddle::controllers::sample_set {
namespace {

constexpr size_t kAtOnce = 16;

Result<std::optional<runtime::JobReport>> job_if_known(runtime::RuntimeClient& runtime,
                                                       const std::string& id,
                                                       std::stop_token stop) {
  if (id.empty()) return std::optional<runtime::JobReport>{};
  auto report = runtime.job(id, stop);
  if (report.is(Code::kNotFound)) return std::optional<runtime::JobReport>{};
  if (!report) return std::move(report).error();
  return std::optional(*std::move(report));
}

Result<> poll_one(runtime::RuntimeClient& runtime, const PolledJobs& about, std::stop_token stop,
                  RuntimeReport& seen) {
  TRY(seen.sync, job_if_known(runtime, about.jobs.sync, stop));
  const auto part = std::ranges::find(about.parts, seen.partition, &api::JobPartition::index);
  if (part != about.parts.end()) {
    TRY(seen.part, job_if_known(runtime, part->id, stop));
  }
  TRY(seen.warmup, job_if_known(runtime, about.jobs.warmup, stop));
  TRY(seen.status, runtime.status(stop));
  return Done{};
}

}  // namespace

std::vector<RuntimePod> running_runtimes(const api::SampleSet& set,
                                         const std::vector<api::Pod>& pods) {
  std::vector<RuntimePod> found;
  for (int partition = 0; partition < set.spec.effective_partitions(); ++partition) {
    const std::string name = engine::runtime_pod_name(set, partition);
    const auto pod = std::ranges::find_if(
        pods, [&](const api::Pod& each) { return each.meta.key.name == name; });
    if (pod == pods.end() || pod->meta.deleting() || pod->ip.empty()) continue;
    if (pod->phase == api::PodPhase::kRunning) found.push_back({partition, pod->ip, pod->meta.uid});
  }
  return found;
}

std::vector<RuntimeReport> poll_runtimes(const runtime::RuntimeClientFactory& at,
                                         const std::vector<RuntimePod>& pods,
                                         const runtime::RuntimeCredentials& access,
                                         const PolledJobs& about, std::stop_token stop,
                                         bool& refused) {
  std::vector<RuntimeReport> seen(pods.size());
  std::atomic<size_t> next = 0;
  std::atomic<bool> unauthorized = false;
  const auto work = [&] {
    for (size_t i = next++; i < pods.size(); i = next++) {
      RuntimeReport one{.partition = pods[i].partition};
      const auto runtime = at(pods[i].address, access);
      if (auto done = poll_one(*runtime, about, stop, one); !done) {
        if (runtime::refuses_access(done.error())) unauthorized = true;
        one = {.partition = pods[i].partition,
               .error = "runtime " + std::to_string(pods[i].partition) +
                        " does not answer: " + done.error().message};
      }
      seen[i] = std::move(one);
    }
  };
  {
    std::vector<std::jthread> threads;
    const size_t others = std::min(kAtOnce, pods.size());
    for (size_t i = 1; i < others; ++i) threads.emplace_back(work);
    work();
  }
  refused = unauthorized;
  return seen;
}

}  // namespace paddle::controllers::sample_set
