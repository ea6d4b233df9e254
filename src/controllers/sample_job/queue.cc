// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_job/queue.h"

#include <algorithm>
#include <tuple>

namespace paddle::controllers::sample_jobs {
namespace {

bool older(const Sibling& sibling, const api::SampleJob& job) {
  const WallTime born = job.meta.created.value_or(WallTime::max());
  return std::tie(sibling.created, sibling.name) < std::tie(born, job.meta.key.name);
}

}  // namespace

int ahead_of(const api::SampleJob& job, const std::vector<Sibling>& siblings, int at_once) {
  int sent = 0, waiting = 0;
  for (const Sibling& each : siblings) {
    if (each.type != job.spec.type) continue;
    if (each.sent) {
      ++sent;
    } else if (!each.waits && older(each, job)) {
      ++waiting;
    }
  }
  if (waiting > 0) return waiting + sent;
  return sent >= at_once ? sent : 0;
}

std::string terminator_of(const api::SampleJob& job, const std::vector<Sibling>& siblings) {
  for (const Sibling& each : siblings) {
    if (each.terminate && !each.sent && !older(each, job)) return each.name;
  }
  return "";
}

int left_to_cancel(const api::SampleJob& job, const std::vector<Sibling>& siblings) {
  if (!job.spec.terminate) return 0;
  return static_cast<int>(
      std::ranges::count_if(siblings, [&](const Sibling& each) { return older(each, job); }));
}

}  // namespace paddle::controllers::sample_jobs
