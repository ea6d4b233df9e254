// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/status/uncached_reason.h"

#include "controllers/sample_set/decide/automatic_jobs.h"
#include "controllers/sample_set/decide/runtime_liveness.h"

namespace paddle::controllers::sample_set {
namespace {

// How the automatic warm-up of a partition stands.
enum class Automatic { kOff, kToCome, kEnded, kGivenUp };

Automatic automatic_of(const api::SampleSet& set, const api::SampleSetStatus& status,
                       const api::PartitionStatus& partition, bool given_up) {
  if (!set.spec.warms_up_by_itself()) return Automatic::kOff;
  if (!status.jobs || status.jobs->warmup.empty()) return Automatic::kToCome;
  if (has_completed(partition, status.jobs->warmup)) return Automatic::kEnded;
  return given_up ? Automatic::kGivenUp : Automatic::kToCome;
}

// Nothing when the runtime remembers none.
std::optional<runtime::LastWarmUp> last_warm_up(const RuntimeReport& answer) {
  if (answer.status->last_warm_up) return answer.status->last_warm_up;
  if (!answer.warmup) return std::nullopt;  // a runtime that does not say it yet
  return runtime::LastWarmUp{.ended = ended(answer.warmup->state),
                             .files_no_room = answer.warmup->files_no_room,
                             .cleared_since = answer.warmup->cleared_since};
}

std::string reason_of(const api::PartitionStatus& partition, const RuntimeReport* answer,
                      Automatic automatic) {
  const bool lacks = partition.cached_bytes < partition.total_bytes;
  if (!answer || !partition.ready || !lacks || automatic == Automatic::kToCome) return "";
  const std::string& before = partition.uncached_reason;
  if (!answer->status) return before;  // it does not answer for a moment
  const auto last = last_warm_up(*answer);
  if (last && !last->ended) return "";
  const bool full = last && last->files_no_room > 0 && !last->cleared_since;
  switch (automatic) {
    case Automatic::kToCome:
      return "";
    case Automatic::kOff:
      return full ? api::uncached::kNoRoom : "";
    case Automatic::kGivenUp:
      return api::uncached::kWarmupFailed;
    case Automatic::kEnded:
      break;
  }
  if (!last) return before.empty() ? api::uncached::kPartly : before;
  if (last->cleared_since) return api::uncached::kCleared;
  return full ? api::uncached::kNoRoom : api::uncached::kPartly;
}

}  // namespace

void set_uncached_reasons(const api::SampleSet& set, const World& world,
                          api::SampleSetStatus& status) {
  const bool given_up = warm_up_given_up(status, warm_up_progress(world, status));
  for (auto& partition : status.partitions) {
    partition.uncached_reason = reason_of(partition, report_of(world, partition.index),
                                          automatic_of(set, status, partition, given_up));
  }
}

}  // namespace paddle::controllers::sample_set
