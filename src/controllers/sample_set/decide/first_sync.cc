// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/first_sync.h"

#include <algorithm>

#include "controllers/runtime_jobs/fanout.h"
#include "controllers/sample_set/decide/automatic_jobs.h"
#include "controllers/sample_set/decide/job_ids.h"
#include "controllers/sample_set/decide/runtime_liveness.h"
#include "runtime/protocol/warm_up.h"

namespace paddle::controllers::sample_set {
namespace {

namespace fanout = runtime_jobs;

std::vector<fanout::PartitionReport> answers_of(const api::SampleSet& set, const World& world) {
  std::vector<fanout::PartitionReport> all;
  const auto pods = runtime_pods(set, world);
  for (const RuntimeReport& seen : world.runtime_reports) {
    fanout::PartitionReport answer{.partition = seen.partition};
    const auto at = static_cast<std::size_t>(seen.partition);
    if (at < pods.size() && pods[at]) answer.node = pods[at]->node;
    if (!seen.status) answer.error = seen.error.empty() ? "its runtime is away" : seen.error;
    answer.job = seen.part;
    all.push_back(std::move(answer));
  }
  return all;
}

bool was_divided(const api::JobPartition& part) { return !part.cut.empty(); }

bool is_due(const api::JobPartition& part, WallTime now) {
  return part.state == fanout::kFailed && was_divided(part) && part.stalled_since &&
         now - *part.stalled_since >= part_retry_delay(part.id);
}

const api::JobPartition* find_part(const std::optional<api::SharedSync>& sync,
                                   const api::JobPartition& like) {
  if (!sync) return nullptr;
  const auto found = std::ranges::find_if(sync->parts, [&](const api::JobPartition& part) {
    return part.index == like.index && part.id == like.id;
  });
  return found == sync->parts.end() ? nullptr : &*found;
}

}  // namespace

std::optional<api::SharedSync> update_first_sync(const api::SampleSet& set, const World& world,
                                                 WallTime now) {
  if (!set.status.sync || synced(set.status)) return std::nullopt;
  api::SharedSync next = *set.status.sync;
  const int partitions = set.spec.effective_partitions();
  const auto answers = answers_of(set, world);
  std::vector<api::JobPartition> still;  // to be told so
  for (const auto& part : next.left) {
    if (world.uncancelled_jobs.contains({part.index, part.id})) still.push_back(part);
  }
  fanout::cancel_abandoned(answers, partitions, next.left, [](const api::JobPartition&) {});
  next.left.insert(next.left.end(), still.begin(), still.end());
  fanout::update_partitions(answers, partitions, now, next.parts, [](const api::JobPartition&) {});
  if (const auto why = fanout::redivision_reason(next.parts, partitions, now); !why.empty()) {
    const std::string id = fanout::next_division_id(division_id(next.parts.front().id));
    fanout::redivide(id, fanout::sharing_partitions(answers, partitions), next.parts, next.left);
    return next;
  }
  for (auto& part : next.parts) {
    if (is_due(part, now)) {
      part = {.index = part.index,
              .id = retry_part_id(part.id),
              .node = part.node,
              .state = fanout::kPending,
              .work = part.work};
    }
  }
  return next;
}

std::optional<api::SharedSync> start_first_sync(const api::SampleSet& set,
                                                const std::optional<api::SharedSync>& before,
                                                const std::string& id) {
  api::SharedSync next = before.value_or(api::SharedSync{});
  std::vector<int> all;
  for (int i = 0; i < set.spec.effective_partitions(); ++i) all.push_back(i);
  if (all.size() < 2) return std::nullopt;
  fanout::redivide(fanout::next_division_id(id), all, next.parts, next.left);
  return next;
}

FirstSyncState first_sync_state(const api::SharedSync& sync) {
  FirstSyncState state;
  bool goes_on = false;
  for (const auto& part : sync.parts) {
    if (part.state == fanout::kSucceeded) continue;
    if (part.state == fanout::kFailed && was_divided(part)) {
      state.failed = true;
    } else if (fanout::ended(part.state)) {
      state.restarts = true;
    } else {
      goes_on = goes_on || !part.stalled_since;
    }
  }
  state.failed = state.restarts || (state.failed && !goes_on);
  if (state.failed) state.error = fanout::failures_text(sync.parts);
  return state;
}

void put_first_sync_parts(const api::SampleSet& set, const World& world,
                          const std::set<int>& may_sync, const api::SampleSetStatus& next,
                          Plan& plan) {
  if (!set.status.sync || !set.status.jobs || synced(set.status)) return;
  api::SharedSync stored = *set.status.sync;
  const auto answers = answers_of(set, world);
  const int partitions = set.spec.effective_partitions();
  fanout::cancel_abandoned(answers, partitions, stored.left, [&](const api::JobPartition& part) {
    plan.actions.emplace_back(CancelJob{part.index, part.id});
  });
  // What is stored and still wanted.
  fanout::update_partitions(
      answers, partitions, {}, stored.parts, [&](const api::JobPartition& part) {
        if (!find_part(next.sync, part) || !may_sync.contains(part.index)) return;
        runtime::JobRequest request{.kind = runtime::JobKind::kSync};
        fanout::describe_part(part, stored.parts, runtime::lists_address(set), request);
        if (division_id(part.id) != part.id) request.sync.division = division_id(part.id);
        plan.actions.emplace_back(PutJob{part.index, part.id, request});
      });
  const RuntimeReport* first = report_of(world, 0);
  if (!next.sync || !fanout::all_succeeded(next.sync->parts)) return;
  if (!first || !first->status || first->sync || !may_sync.contains(0)) return;
  runtime::JobRequest request{.kind = runtime::JobKind::kSync};
  request.sync.counts = true;
  plan.actions.emplace_back(PutJob{0, set.status.jobs->sync, request});
}

}  // namespace paddle::controllers::sample_set
