// SPDX-License-Identifier: Apache-2.0
#include "controllers/placement/data_gate.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/look.h"
#include "controllers/placement/set_state.h"

namespace paddle::controllers {
namespace {

using api::Json;
using std::chrono::seconds;

constexpr int kAllOfIt = 100;
// Longer than any job, in seconds; keeps sums of times from overflowing.
constexpr std::int64_t kLongest = 100LL * 365 * 86'400;

const api::PartitionStatus* partition_at(const api::SampleSet& set, int index) {
  for (const auto& one : set.status.partitions) {
    if (one.index == index) return &one;
  }
  return nullptr;
}

// What holds the gate however long it has been: there is nothing to be read.
std::optional<Waiting> nothing_to_read(const api::SampleSetMount& ref, const DataSeen& seen) {
  if (!seen.set) {
    return Waiting{"SampleSetMissing", "waiting for the SampleSet " + ref.name + " to be created"};
  }
  auto unsynced = waits_for_first_sync(*seen.set);
  if (unsynced && ref.gate && ref.gate->timeout_seconds) {
    unsynced->message += "; gate.timeoutSeconds does not start the job before";
  }
  return unsynced;
}

// What holds the gate until its time is up, or nothing.
std::optional<Waiting> cold(const api::SampleSetMount& ref, const DataSeen& seen,
                            const GateQuestion& question) {
  if (!seen.claim) {
    return Waiting{"ClaimMissing", "waiting for the PersistentVolumeClaim " + ref.name +
                                       " of the SampleSet to be there"};
  }
  const int wanted = ref.gate ? ref.gate->warm_percent.value_or(kAllOfIt) : kAllOfIt;
  const int used = std::min(question.workers, seen.set->spec.effective_partitions());
  const int needed = std::min(used, question.least.value_or(used));
  int warm = 0;
  int coldest = 0;
  int coldest_percent = kAllOfIt + 1;
  for (int i = 0; i < used; ++i) {
    const auto* partition = partition_at(*seen.set, i);
    const int percent = partition ? warm_percent(*partition) : 0;
    if (percent >= wanted) ++warm;
    if (percent >= coldest_percent) continue;
    coldest = i;
    coldest_percent = percent;
  }
  if (warm >= needed) return std::nullopt;
  return Waiting{"DataNotWarm", "waiting for the SampleSet " + ref.name + ": " +
                                    std::to_string(warm) + " of " + std::to_string(needed) +
                                    " partitions are " + std::to_string(wanted) +
                                    " % warm, partition " + std::to_string(coldest) + " is at " +
                                    std::to_string(coldest_percent) + " %"};
}

}  // namespace

void add_gate(Json& pod_spec) {
  Json& gates = pod_spec["schedulingGates"];
  if (!gates.is_array()) gates = Json::array();
  const Json ours = {{"name", kDataGate}};
  if (std::ranges::find(gates, ours) == gates.end()) gates.push_back(ours);
}

int warm_percent(const api::PartitionStatus& partition) {
  if (partition.total_bytes <= 0) return partition.ready ? kAllOfIt : 0;
  const auto share = static_cast<long double>(std::max<std::int64_t>(partition.cached_bytes, 0)) /
                     static_cast<long double>(partition.total_bytes);
  return static_cast<int>(std::min(share, 1.0L) * kAllOfIt);
}

GateAnswer decide_gate(const api::SampleSetMount& ref, const DataSeen& seen,
                       const GateQuestion& question, WallTime now) {
  if (auto nothing = nothing_to_read(ref, seen)) return {.waiting = *std::move(nothing)};
  auto missing = cold(ref, seen, question);
  if (!missing) return {.lift = true};

  GateAnswer answer{.waiting = *std::move(missing)};
  const bool limited = ref.gate && ref.gate->timeout_seconds && question.since;
  if (!limited) return answer;
  const seconds limit{std::min<std::int64_t>(*ref.gate->timeout_seconds, kLongest)};
  const auto left = std::chrono::ceil<seconds>(*question.since + limit - now);
  if (left > seconds{0}) {
    answer.ask_again_in = left;
    return answer;
  }
  answer.lift = true;
  answer.waiting = {"DataGateTimedOut", "started after " +
                                            std::to_string(*ref.gate->timeout_seconds) +
                                            " s although it was " + answer.waiting.message};
  return answer;
}

std::optional<Json> lift_patch(const std::string& uid, const std::vector<std::string>& gates,
                               const Json& desired_spec, const std::string& must_go_to) {
  const auto ours = std::ranges::find(gates, kDataGate);
  if (ours == gates.end()) return std::nullopt;
  const std::string at = "/spec/schedulingGates/" + std::to_string(ours - gates.begin());
  Json patch = Json::array({Json{{"op", "test"}, {"path", "/metadata/uid"}, {"value", uid}},
                            Json{{"op", "test"}, {"path", at + "/name"}, {"value", kDataGate}},
                            Json{{"op", "remove"}, {"path", at}}});
  if (const Json& affinity = api::look(desired_spec, "affinity"); affinity.is_object()) {
    patch.push_back({{"op", "add"}, {"path", "/spec/affinity"}, {"value", affinity}});
  }
  if (!must_go_to.empty()) {
    patch.push_back({{"op", "add"},
                     {"path", "/metadata/annotations/batch.paddlepaddle.org~1placed-at"},
                     {"value", must_go_to}});
  }
  return patch;
}

}  // namespace paddle::controllers
