// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/status/uncached_reason.h"

#include "controllers/sample_set/decide/automatic_jobs.h"
#include "controllers/sample_set/decide/runtime_liveness.h"

namespace paddle::controllers::sample_set {
namespace {

// The automatic warm-up of one partition.
enum class AutomaticWarmUp { kOff, kPending, kEnded, kGivenUp };

AutomaticWarmUp automatic_warm_up(const api::SampleSet& set, const api::SampleSetStatus& status,
                                  const api::PartitionStatus& partition, bool given_up) {
  if (!set.spec.warms_up_by_itself()) return AutomaticWarmUp::kOff;
  if (!status.jobs || status.jobs->warmup.empty()) return AutomaticWarmUp::kPending;
  if (has_completed(partition, status.jobs->warmup)) return AutomaticWarmUp::kEnded;
  return given_up ? AutomaticWarmUp::kGivenUp : AutomaticWarmUp::kPending;
}

// Absent when the runtime knows of none.
std::optional<runtime::LastWarmUp> last_warm_up(const RuntimeReport& report) {
  if (report.status->last_warm_up) return report.status->last_warm_up;
  if (!report.warmup) return std::nullopt;  // older runtimes do not report the last warm-up
  return runtime::LastWarmUp{.ended = ended(report.warmup->state),
                             .files_no_room = report.warmup->progress.files_no_room,
                             .cleared_since = report.warmup->cleared_since};
}

std::string uncached_reason(const api::PartitionStatus& partition, const RuntimeReport* report,
                            AutomaticWarmUp automatic) {
  const bool incomplete = partition.cached_bytes < partition.total_bytes;
  if (!report || !partition.ready || !incomplete) return "";
  if (automatic == AutomaticWarmUp::kPending) return "";
  const std::string& before = partition.uncached_reason;
  if (!report->status) return before;  // it did not answer this time
  const auto last = last_warm_up(*report);
  if (last && !last->ended) return "";
  const bool full = last && last->files_no_room > 0 && !last->cleared_since;
  if (automatic == AutomaticWarmUp::kOff) return full ? api::uncached::kNoRoom : "";
  if (automatic == AutomaticWarmUp::kGivenUp) return api::uncached::kWarmupFailed;
  if (!last) return before.empty() ? api::uncached::kPartly : before;
  if (last->cleared_since) return api::uncached::kCleared;
  return full ? api::uncached::kNoRoom : api::uncached::kPartly;
}

}  // namespace

void set_uncached_reasons(const api::SampleSet& set, const World& world,
                          api::SampleSetStatus& status) {
  const bool given_up = warm_up_given_up(status, warm_up_progress(world, status));
  for (auto& partition : status.partitions) {
    partition.uncached_reason =
        uncached_reason(partition, report_of(world, partition.index),
                        automatic_warm_up(set, status, partition, given_up));
  }
}

}  // namespace paddle::controllers::sample_set
