// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/decide/queue.h"

#include <algorithm>
#include <tuple>

#include "controllers/sample_job/spec/job_type.h"

namespace paddle::controllers::sample_job {
namespace {

bool is_older(const Sibling& sibling, const api::SampleJob& job) {
  const WallTime created = job.meta.created.value_or(WallTime::max());
  return std::tie(sibling.created, sibling.name) < std::tie(created, job.meta.key.name);
}

// One of two jobs that are compared.
struct Competitor {
  const std::string& name;
  WallTime created{};
  bool sent = false;
  bool terminates = false;
};

Competitor competitor(const Sibling& sibling) {
  return {sibling.name, sibling.created, sibling.sent, sibling.terminate};
}

Competitor competitor(const api::SampleJob& job) {
  return {job.meta.key.name, job.meta.created.value_or(WallTime::max()),
          !job.status.job_name.empty(), job.spec.terminate};
}

bool cancels(const Competitor& terminator, const Competitor& other) {
  if (!terminator.terminates || terminator.sent) return false;
  if (terminator.created != other.created) return terminator.created > other.created;
  return other.sent || (other.terminates && terminator.name > other.name);
}

// Created in the same second as one that cancels what came before it.
bool goes_after(const Competitor& job, const Competitor& other) {
  return other.terminates && !other.sent && !job.sent && job.created == other.created &&
         !cancels(other, job) && !cancels(job, other);
}

}  // namespace

bool waits_for_changes(const api::SampleJob& job, bool shares_volume) {
  const auto kind = job_type(job.spec.type).kind;
  return shares_volume && kind && api::info_of(*kind).changes_set;
}

int ahead_of(const api::SampleJob& job, const std::vector<Sibling>& siblings, int at_once,
             bool shares_volume) {
  const auto kind = job_type(job.spec.type).kind;
  const bool changes = waits_for_changes(job, shares_volume);
  int sent = 0, sent_of_others = 0, waiting = 0;
  for (const Sibling& each : siblings) {
    const bool same = each.kind == kind;
    if (!same && !(changes && each.kind && api::info_of(*each.kind).changes_set)) continue;
    if (each.sent) {
      (same ? sent : sent_of_others) += each.stalled ? 0 : 1;
    } else if (!each.blocked_alone && is_older(each, job) &&
               !goes_after(competitor(each), competitor(job))) {
      ++waiting;
    }
  }
  if (waiting > 0 || sent_of_others > 0) return waiting + sent + sent_of_others;
  return sent >= at_once ? sent : 0;
}

std::string terminator_of(const api::SampleJob& job, const std::vector<Sibling>& siblings) {
  for (const Sibling& each : siblings) {
    if (cancels(competitor(each), competitor(job))) return each.name;
  }
  return "";
}

std::string waits_for_terminator(const api::SampleJob& job, const std::vector<Sibling>& siblings) {
  for (const Sibling& each : siblings) {
    if (!each.blocked_alone && goes_after(competitor(job), competitor(each))) return each.name;
  }
  return "";
}

int left_to_cancel(const api::SampleJob& job, const std::vector<Sibling>& siblings) {
  return static_cast<int>(std::ranges::count_if(
      siblings, [&](const Sibling& each) { return cancels(competitor(job), competitor(each)); }));
}

}  // namespace paddle::controllers::sample_job
