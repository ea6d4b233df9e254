// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/decide/queue.h"

#include <algorithm>
#include <tuple>

namespace paddle::controllers::sample_job {
namespace {

bool older(const Sibling& sibling, const api::SampleJob& job) {
  const WallTime born = job.meta.created.value_or(WallTime::max());
  return std::tie(sibling.created, sibling.name) < std::tie(born, job.meta.key.name);
}

// What a decision between two jobs rests on.
struct Party {
  const std::string& name;
  WallTime created{};
  bool sent = false;
  bool terminates = false;
};

Party party(const Sibling& sibling) {
  return {sibling.name, sibling.created, sibling.sent, sibling.terminate};
}

Party party(const api::SampleJob& job) {
  return {job.meta.key.name, job.meta.created.value_or(WallTime::max()),
          !job.status.job_name.empty(), job.spec.terminate};
}

bool cancels(const Party& by, const Party& other) {
  if (!by.terminates || by.sent) return false;
  if (by.created != other.created) return by.created > other.created;
  return other.sent || (other.terminates && by.name > other.name);
}

// Made in the same second, and one of them is to cancel what came before.
bool goes_after(const Party& job, const Party& other) {
  return other.terminates && !other.sent && !job.sent && job.created == other.created &&
         !cancels(other, job) && !cancels(job, other);
}

}  // namespace

int ahead_of(const api::SampleJob& job, const std::vector<Sibling>& siblings, int at_once) {
  int sent = 0, waiting = 0;
  for (const Sibling& each : siblings) {
    if (each.type != job.spec.type) continue;
    if (each.sent) {
      ++sent;
    } else if (!each.waits && older(each, job) && !goes_after(party(each), party(job))) {
      ++waiting;
    }
  }
  if (waiting > 0) return waiting + sent;
  return sent >= at_once ? sent : 0;
}

std::string terminator_of(const api::SampleJob& job, const std::vector<Sibling>& siblings) {
  for (const Sibling& each : siblings) {
    if (cancels(party(each), party(job))) return each.name;
  }
  return "";
}

std::string waits_for_terminator(const api::SampleJob& job, const std::vector<Sibling>& siblings) {
  for (const Sibling& each : siblings) {
    if (!each.waits && goes_after(party(job), party(each))) return each.name;
  }
  return "";
}

int left_to_cancel(const api::SampleJob& job, const std::vector<Sibling>& siblings) {
  return static_cast<int>(std::ranges::count_if(
      siblings, [&](const Sibling& each) { return cancels(party(job), party(each)); }));
}

}  // namespace paddle::controllers::sample_job
