// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/first_sync.h"

#include <algorithm>

#include "controllers/runtime_jobs/fanout.h"
#include "controllers/sample_set/decide/automatic_jobs.h"
#include "controllers/sample_set/decide/job_ids.h"
#include "controllers/sample_set/decide/runtime_liveness.h"
#include "runtime/protocol/request_fields.h"

namespace paddle::controllers::sample_set {
namespace {

std::vector<runtime_jobs::PartitionReport> partition_reports(const api::SampleSet& set,
                                                             const World& world) {
  std::vector<runtime_jobs::PartitionReport> all;
  const auto pods = runtime_pods(set, world);
  for (const RuntimeReport& runtime : world.runtime_reports) {
    runtime_jobs::PartitionReport report{.partition = runtime.partition};
    const auto at = static_cast<std::size_t>(runtime.partition);
    if (at < pods.size() && pods[at]) report.node = pods[at]->node;
    if (!runtime.status) {
      report.error = runtime.error.empty() ? runtime_jobs::kRuntimeAway : runtime.error;
    }
    report.job = runtime.part;
    all.push_back(std::move(report));
  }
  return all;
}

bool was_divided(const api::JobPartition& part) { return !part.cut.empty(); }

bool retry_is_due(const api::JobPartition& part, WallTime now) {
  return part.state == runtime_jobs::kFailed && was_divided(part) && part.stalled_since &&
         now - *part.stalled_since >= part_retry_delay(part.id);
}

bool has_part(const std::optional<api::SharedSync>& sync, const api::JobPartition& part) {
  return sync && std::ranges::any_of(sync->parts, [&](const api::JobPartition& each) {
           return each.index == part.index && each.id == part.id;
         });
}

}  // namespace

std::optional<api::SharedSync> update_first_sync(const api::SampleSet& set, const World& world,
                                                 WallTime now) {
  if (!set.status.sync || is_synced(set.status)) return std::nullopt;
  api::SharedSync next = *set.status.sync;
  const int partitions = set.spec.effective_partitions();
  const auto reports = partition_reports(set, world);
  std::vector<api::JobPartition> not_cancelled;
  for (const auto& part : next.left) {
    if (world.rejections.cancellations.contains({part.index, part.id})) {
      not_cancelled.push_back(part);
    }
  }
  runtime_jobs::cancel_abandoned(reports, partitions, next.left, [](const api::JobPartition&) {});
  next.left.insert(next.left.end(), not_cancelled.begin(), not_cancelled.end());
  runtime_jobs::update_partitions(reports, partitions, now, next.parts,
                                  [](const api::JobPartition&) {});
  if (!runtime_jobs::redivision_reason(next.parts, partitions, now).empty()) {
    const std::string id = runtime_jobs::next_division_id(division_id(next.parts.front().id));
    runtime_jobs::redivide(id, runtime_jobs::sharing_partitions(reports, partitions), next.parts,
                           next.left);
    return next;
  }
  for (auto& part : next.parts) {
    if (!retry_is_due(part, now)) continue;
    part = {.index = part.index,
            .id = retry_part_id(part.id),
            .node = part.node,
            .state = runtime_jobs::kPending,
            .work = part.work};
  }
  return next;
}

std::optional<api::SharedSync> start_first_sync(const api::SampleSet& set,
                                                const std::optional<api::SharedSync>& previous,
                                                const std::string& id) {
  api::SharedSync next = previous.value_or(api::SharedSync{});
  std::vector<int> all;
  for (int i = 0; i < set.spec.effective_partitions(); ++i) all.push_back(i);
  if (all.size() < 2) return std::nullopt;
  runtime_jobs::redivide(runtime_jobs::next_division_id(id), all, next.parts, next.left);
  return next;
}

FirstSyncState first_sync_state(const api::SharedSync& sync) {
  FirstSyncState state;
  bool progresses = false;
  for (const auto& part : sync.parts) {
    if (part.state == runtime_jobs::kSucceeded) continue;
    if (part.state == runtime_jobs::kFailed && was_divided(part)) {
      state.failed = true;
    } else if (runtime_jobs::ended(part.state)) {
      state.restarts = true;
    } else {
      progresses = progresses || !part.stalled_since;
    }
  }
  state.failed = state.restarts || (state.failed && !progresses);
  if (state.failed) state.error = runtime_jobs::failures_text(sync.parts);
  return state;
}

void put_first_sync_parts(const api::SampleSet& set, const World& world,
                          const std::set<int>& may_sync, const api::SampleSetStatus& next,
                          Plan& plan) {
  if (!set.status.sync || !set.status.jobs || is_synced(set.status)) return;
  api::SharedSync stored = *set.status.sync;
  const auto reports = partition_reports(set, world);
  const int partitions = set.spec.effective_partitions();
  runtime_jobs::cancel_abandoned(reports, partitions, stored.left,
                                 [&](const api::JobPartition& part) {
                                   plan.add(CancelJob{part.index, part.id});
                                 });
  runtime_jobs::update_partitions(
      reports, partitions, {}, stored.parts, [&](const api::JobPartition& part) {
        // Only ids that are stored, and that the next status still has.
        if (!has_part(next.sync, part) || !may_sync.contains(part.index)) return;
        runtime::JobRequest request{.kind = runtime::JobKind::kSync};
        runtime_jobs::describe_part(part, stored.parts, runtime::lists_address(set), request);
        if (division_id(part.id) != part.id) request.sync.division = division_id(part.id);
        plan.add(PutJob{part.index, part.id, request});
      });
  const RuntimeReport* first = report_of(world, 0);
  if (!next.sync || !runtime_jobs::all_succeeded(next.sync->parts)) return;
  if (!first || !first->status || first->sync || !may_sync.contains(0)) return;
  runtime::JobRequest request{.kind = runtime::JobKind::kSync};
  request.sync.counts = true;
  plan.add(PutJob{0, set.status.jobs->sync, request});
}

}  // namespace paddle::controllers::sample_set
