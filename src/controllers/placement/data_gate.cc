// SPDX-License-Identifier: Apache-2.0
#include "controllers/placement/data_gate.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "controllers/placement/set_state.h"

namespace paddle::controllers::placement {
namespace {

using api::Json;
using std::chrono::seconds;

constexpr int kAllOfIt = 100;
// Longer than any job, in seconds; keeps sums of times from overflowing.
constexpr std::int64_t kLongest = 100LL * 365 * 86'400;

const api::PartitionStatus* partition_at(const api::SampleSet& set, int index) {
  const auto& all = set.status.partitions;
  const auto at = static_cast<std::size_t>(index);
  if (at < all.size() && all[at].index == index) return &all[at];  // they are in this order
  for (const auto& one : set.status.partitions) {
    if (one.index == index) return &one;
  }
  return nullptr;
}

// Why the gate stays closed even after its timeout: there are no samples to read.
std::optional<BlockReason> nothing_to_read(const api::SampleSetMount& ref,
                                           const DataSummary& data) {
  if (!data.set) {
    return BlockReason{reasons::kSampleSetMissing,
                       "waiting for the SampleSet " + ref.name + " to be created"};
  }
  auto unsynced = first_sync_block_reason(*data.set);
  if (unsynced && ref.gate && ref.gate->timeout_seconds) {
    unsynced->message += "; gate.timeoutSeconds does not start the job before that";
  }
  return unsynced;
}

// The bytes of `of_them` of `parts` equal parts of `total`, rounded up; exact, without overflow.
std::int64_t share_of(std::int64_t total, int of_them, int parts) {
  return total / parts * of_them + (total % parts * of_them + parts - 1) / parts;
}

std::string percent_text(int permille) {
  const std::string tenth = permille % 10 == 0 ? "" : "." + std::to_string(permille % 10);
  return std::to_string(permille / 10) + tenth + " %";
}

struct ColdestPartition {
  int index = 0;
  int permille = kAllOfIt * 10 + 1;  // more than any partition has: there is none
  std::string reason{};              // uncachedReason
  void consider(int partition, const api::PartitionStatus* status) {
    const int share = status ? warm_permille(*status) : 0;
    if (share >= permille) return;
    *this = {partition, share, status ? status->uncached_reason : ""};
  }
};

// The partitions that workers of the job are placed by. uncachedReason counts only when the status
// of the set is up to date with its spec.
struct WarmPartitions {
  int wanted = kAllOfIt;  // per cent
  int needed = 0;
  int warm = 0;
  int settled = 0;  // not warm, but as warm as they can be (uncachedReason)
  ColdestPartition coldest{};
  ColdestPartition coldest_settled{};
};

WarmPartitions count(const api::SampleSetMount& ref, const api::SampleSet& set,
                     const GateRequest& request) {
  WarmPartitions partitions;
  if (ref.gate) partitions.wanted = ref.gate->warm_percent.value_or(kAllOfIt);
  const int used = std::min(request.workers, set.spec.effective_partitions());
  partitions.needed = std::min(used, request.min_workers.value_or(used));
  const bool current = set.status.observed_generation == set.meta.generation;
  for (int i = 0; i < used; ++i) {
    const auto* partition = partition_at(set, i);
    if (partition && is_warm(*partition, partitions.wanted)) {
      ++partitions.warm;
    } else if (partition && current && !partition->uncached_reason.empty()) {
      ++partitions.settled;
      partitions.coldest_settled.consider(i, partition);
    } else {
      partitions.coldest.consider(i, partition);
    }
  }
  return partitions;
}

// What is missing in a partition that is as warm as it can be, and how to cache it.
BlockReason lacking(const api::SampleSetMount& ref, const ColdestPartition& which) {
  const std::string partition = "partition " + std::to_string(which.index);
  const std::string share = percent_text(which.permille);
  const std::string rest = ": the rest is read from the source; ";
  const std::string by_hand = "a SampleJob of type warmup brings it into the cache";
  if (which.reason == api::uncached::kNoRoom) {
    return {reasons::kNoRoom, partition + " is full at " + share + rest + "give the SampleSet " +
                                  ref.name + " a larger spec.cache or more partitions"};
  }
  if (which.reason == api::uncached::kCleared) {
    return {reasons::kCacheCleared,
            partition + " is at " + share + " since its cache was cleared" + rest + by_hand};
  }
  if (which.reason == api::uncached::kWarmupFailed) {
    return {reasons::kWarmupFailed, partition + " is at " + share + ", its warm-up fails" + rest +
                                        "see kubectl describe sampleset " + ref.name};
  }
  return {reasons::kPartlyCached,
          partition + " is at " + share + " though its warm-up has ended" + rest + by_hand};
}

BlockReason not_warm(const api::SampleSetMount& ref, const api::SampleSet& set,
                     const WarmPartitions& partitions) {
  std::string text = "waiting for the SampleSet " + ref.name + ": " +
                     std::to_string(partitions.warm + partitions.settled) + " of " +
                     std::to_string(partitions.needed) + " partitions are " +
                     std::to_string(partitions.wanted) + " % warm";
  if (partitions.settled > 0) text += " or as warm as they can be";
  text += ", partition " + std::to_string(partitions.coldest.index) + " is at " +
          percent_text(partitions.coldest.permille);
  if (!set.spec.warms_up_by_itself()) {
    text += "; its automatic warm-up is disabled: create a SampleJob of type warmup";
  }
  return {reasons::kDataNotWarm, text};
}

}  // namespace

void add_gate(Json& pod_spec) {
  Json& gates = api::list_in(pod_spec, "schedulingGates");
  const Json ours = {{"name", kDataGate}};
  if (std::ranges::find(gates, ours) == gates.end()) gates.push_back(ours);
}

bool is_warm(const api::PartitionStatus& partition, int percent) {
  if (partition.total_bytes <= 0) return partition.ready;
  return partition.cached_bytes >= share_of(partition.total_bytes, percent, kAllOfIt);
}

int warm_permille(const api::PartitionStatus& partition) {
  constexpr int kAll = kAllOfIt * 10;
  if (partition.total_bytes <= 0) return partition.ready ? kAll : 0;
  int reached = 0;
  for (int limit = kAll; reached < limit;) {  // binary search
    const int middle = (reached + limit + 1) / 2;
    if (partition.cached_bytes >= share_of(partition.total_bytes, middle, kAll)) {
      reached = middle;
    } else {
      limit = middle - 1;
    }
  }
  return reached;
}

GateDecision decide_gate(const api::SampleSetMount& ref, const DataSummary& data,
                         const GateRequest& request, WallTime now) {
  if (auto nothing = nothing_to_read(ref, data)) return {.reason = *std::move(nothing)};

  GateDecision decision;
  if (!data.claim) {
    decision.reason = {reasons::kClaimMissing, "waiting for the PersistentVolumeClaim " + ref.name +
                                                   " of the SampleSet to be created"};
  } else {
    const WarmPartitions partitions = count(ref, *data.set, request);
    if (partitions.warm >= partitions.needed) return {.open = true};
    if (partitions.warm + partitions.settled >= partitions.needed) {
      return {.open = true, .reason = lacking(ref, partitions.coldest_settled)};
    }
    decision.reason = not_warm(ref, *data.set, partitions);
  }
  const bool limited = ref.gate && ref.gate->timeout_seconds && request.since;
  if (!limited) return decision;
  const seconds limit{std::min<std::int64_t>(*ref.gate->timeout_seconds, kLongest)};
  const auto left = std::chrono::ceil<seconds>(*request.since + limit - now);
  if (left > seconds{0}) {
    decision.retry_after = left;
    return decision;
  }
  decision.open = true;
  decision.reason = {reasons::kDataGateTimedOut,
                     "started after " + std::to_string(*ref.gate->timeout_seconds) +
                         " s although it was " + decision.reason.message};
  return decision;
}

std::optional<Json> remove_gate_patch(const std::string& uid, const std::vector<std::string>& gates,
                                      const Json& desired_spec,
                                      const std::string& required_runtime) {
  const auto ours = std::ranges::find(gates, kDataGate);
  if (ours == gates.end()) return std::nullopt;
  const std::string at = "/spec/schedulingGates/" + std::to_string(ours - gates.begin());
  Json patch = Json::array({Json{{"op", "test"}, {"path", "/metadata/uid"}, {"value", uid}},
                            Json{{"op", "test"}, {"path", at + "/name"}, {"value", kDataGate}},
                            Json{{"op", "remove"}, {"path", at}}});
  if (const Json& affinity = api::look(desired_spec, "affinity"); affinity.is_object()) {
    patch.push_back({{"op", "add"}, {"path", "/spec/affinity"}, {"value", affinity}});
  }
  if (!required_runtime.empty()) {
    patch.push_back({{"op", "add"},
                     {"path", "/metadata/annotations/batch.paddlepaddle.org~1placed-at"},
                     {"value", required_runtime}});
  }
  return patch;
}

}  // namespace paddle::controllers::placement
