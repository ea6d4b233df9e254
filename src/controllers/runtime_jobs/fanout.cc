// SPDX-License-Identifier: Apache-2.0
#include "controllers/runtime_jobs/fanout.h"

#include <algorithm>
#include <charconv>

namespace paddle::controllers::runtime_jobs {
namespace {

// Of all parts together in a status, however many there are.
constexpr std::size_t kNamedProblems = 200;

// Takes over one report.
void update(const PartitionReport& report, const api::JobPartition& first, std::size_t parts,
            WallTime now, api::JobPartition& part) {
  part.node = report.node;
  part.state = partition_state(report.job->state);
  part.message = report.job->error;
  if (part.state == kSucceeded) {
    const engine::LeftOut& left = report.job->progress.left_out;
    part.message = report.job->kind == api::JobKind::kRemove ? left_by_removal_text(left)
                                                             : left_out_text(left);
  }
  part.work = to_work(*report.job);
  part.verification = report.job->progress.verification;
  if (part.verification) {
    auto& named = part.verification->first_problems;
    named.resize(std::min(named.size(), std::max<std::size_t>(kNamedProblems / parts, 1)));
  }
  part.cut = report.job->progress.cut;
  // The first runtime has ended and will not say any more what this part is.
  const bool waits_in_vain = part.cut.empty() && !first.cut.empty() && first.state == kSucceeded;
  const bool stalls = part.state == kFailed || (waits_in_vain && !ended(part.state));
  if (!stalls) part.stalled_since.reset();
  if (stalls && !part.stalled_since) part.stalled_since = now;
}

bool stalled_for_long(const api::JobPartition& part, WallTime now) {
  return part.stalled_since && now - *part.stalled_since >= kStallTimeout;
}

}  // namespace

const PartitionReport* report_of(const std::vector<PartitionReport>& reports, int partition) {
  const auto found = std::ranges::find(reports, partition, &PartitionReport::partition);
  return found == reports.end() ? nullptr : &*found;
}

bool is_reachable(const std::vector<PartitionReport>& reports, int partition) {
  const PartitionReport* report = report_of(reports, partition);
  return report && report->error.empty();
}

PartitionJobs start_partitions(const std::string& id, const std::vector<int>& partitions) {
  PartitionJobs parts;
  for (const int i : partitions) parts.push_back({.index = i, .id = id, .state = kPending});
  return parts;
}

std::vector<int> sharing_partitions(const std::vector<PartitionReport>& reports, int count) {
  std::vector<int> found;
  for (int i = 0; i < count; ++i) {
    if (i == 0 || is_reachable(reports, i)) found.push_back(i);
  }
  return found;
}

void update_partitions(const std::vector<PartitionReport>& reports, int partitions, WallTime now,
                       PartitionJobs& parts,
                       const std::function<void(const api::JobPartition&)>& send) {
  for (auto& part : parts) {
    if (ended(part.state) || part.index >= partitions) continue;
    const PartitionReport* report = report_of(reports, part.index);
    if (!report || !report->error.empty()) {
      part.message = report ? report->error : kRuntimeAway;
      if (!part.stalled_since) part.stalled_since = now;
      continue;
    }
    if (report->job) {
      update(*report, parts.front(), parts.size(), now, part);
      continue;
    }
    // It does not know the part: not sent yet, or the runtime has moved to another node.
    part.node = report->node;
    part.message.clear();
    part.stalled_since.reset();
    send(part);
  }
}

bool all_succeeded(const PartitionJobs& parts) {
  return !parts.empty() && std::ranges::all_of(parts, [](const api::JobPartition& part) {
    return part.state == kSucceeded;
  });
}

std::string redivision_reason(const PartitionJobs& parts, int partitions, WallTime now) {
  if (parts.size() < 2) return "";
  if (all_succeeded(parts)) {
    const bool one = std::ranges::all_of(
        parts, [&](const api::JobPartition& part) { return part.cut == parts.front().cut; });
    return one ? "" : "the first runtime has lost the division";
  }
  const bool shrunk = std::ranges::any_of(parts, [&](const api::JobPartition& part) {
    return part.state != kSucceeded && part.index >= partitions;
  });
  if (shrunk) return "the set has fewer partitions now";
  std::string waits;
  for (const auto& part : parts) {
    if (part.state == kSucceeded) continue;
    if (part.state == kFailed || part.state == kCancelled) return "";
    // No other runtime can divide it.
    if (part.index == parts.front().index || !stalled_for_long(part, now)) return "";
    waits = part.message.empty() ? "the first runtime has lost the division"
                                 : "partition " + std::to_string(part.index) + ": " + part.message;
  }
  return waits;
}

std::string next_division_id(const std::string& id) {
  const std::size_t mark = std::min(id.find('.'), id.size());
  int times = 0;
  if (mark < id.size()) std::from_chars(id.data() + mark + 1, id.data() + id.size(), times);
  return id.substr(0, mark) + "." + std::to_string(times + 1);
}

void redivide(const std::string& id, const std::vector<int>& partitions, PartitionJobs& parts,
              PartitionJobs& left) {
  for (const auto& part : parts) {
    if (!ended(part.state)) left.push_back({.index = part.index, .id = part.id});
  }
  parts = start_partitions(id, partitions);
}

void cancel_abandoned(const std::vector<PartitionReport>& reports, int partitions,
                      PartitionJobs& left,
                      const std::function<void(const api::JobPartition&)>& cancel) {
  std::erase_if(left, [&](const api::JobPartition& part) {
    if (part.index >= partitions) return true;  // the set has no such partition any more
    if (!is_reachable(reports, part.index)) return false;
    cancel(part);
    return true;
  });
}

void describe_part(const api::JobPartition& part, const PartitionJobs& parts,
                   const std::string& lists_at, runtime::JobRequest& request) {
  if (parts.size() < 2) return;
  const auto at = std::ranges::find(parts, part.index, &api::JobPartition::index);
  request.sync.part = static_cast<std::int32_t>(at - parts.begin());
  request.sync.parts = static_cast<std::int32_t>(parts.size());
  request.sync.lists_at = lists_at;
}

}  // namespace paddle::controllers::runtime_jobs
