// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/roster.h"

#include <algorithm>
#include <map>

#include "controllers/paddle_job/pod_facts.h"

namespace paddle::controllers {
namespace {

using api::PodPhase;

api::ObjectReference reference(const api::Pod& pod) {
  return {.api_version = "v1",
          .kind = "Pod",
          .ns = pod.meta.key.ns,
          .name = pod.meta.key.name,
          .uid = pod.meta.uid};
}

void add(const api::Pod& pod, api::RoleStatus& status) {
  switch (pod.phase) {
    case PodPhase::kPending:
      ++(coordinating(pod) ? status.starting : status.pending);
      break;
    case PodPhase::kRunning:
      ++(pod.all_ready() ? status.running : status.starting);
      break;
    case PodPhase::kSucceeded:
      ++status.succeeded;
      break;
    case PodPhase::kFailed:
      ++status.failed;
      break;
    case PodPhase::kUnknown:
      ++status.unknown;
      break;
  }
}

template <typename Each>
void each_seat(const Roster& roster, Each each) {
  for (const Bench& bench : roster.benches) {
    for (const api::Pod* pod : bench.seats) each(pod);
  }
}

}  // namespace

Roster seat(const api::PaddleJob& job, const std::vector<PodPtr>& pods) {
  Roster roster;
  std::map<std::string, const api::Pod*> present;
  for (const PodPtr& pod : pods) {
    const auto& name = pod->meta.key.name;
    roster.names_in_use.insert(name);
    const std::int64_t epoch = epoch_of(pod->meta);
    if (epoch > job.status.epoch) roster.from_the_future = true;
    if (epoch < job.status.epoch) {
      roster.old.push_back(pod.get());
    } else {
      present[name] = pod.get();
    }
  }
  for (Part& part : parts_of(job.spec)) {
    Bench& bench = roster.benches.emplace_back();
    for (int index = 0; index < part.replicas; ++index) {
      auto seated = present.extract(pod_name(job, part, index));
      bench.seats.push_back(seated ? seated.mapped() : nullptr);
    }
    bench.part = std::move(part);
  }
  for (const auto& [name, pod] : present) roster.surplus.push_back(pod);
  std::ranges::sort(roster.old, {}, [](const api::Pod* pod) { return pod->meta.key; });
  return roster;
}

int seats(const Roster& roster) {
  int all = 0;
  each_seat(roster, [&](const api::Pod*) { ++all; });
  return all;
}

std::vector<const api::Pod*> seats_of(const Roster& roster, RoleKind kind) {
  std::vector<const api::Pod*> all;
  for (const Bench& bench : roster.benches) {
    if (bench.part.kind == kind) all.insert(all.end(), bench.seats.begin(), bench.seats.end());
  }
  return all;
}

int empty_seats(const Roster& roster) {
  int empty = 0;
  each_seat(roster, [&](const api::Pod* pod) { empty += pod ? 0 : 1; });
  return empty;
}

int without_address(const Roster& roster) {
  int without = 0;
  each_seat(roster, [&](const api::Pod* pod) {
    without += !pod || pod->ip.empty() || pod->meta.deleting() ? 1 : 0;
  });
  return without;
}

bool any_pod(const Roster& roster, const PodTest& test) {
  bool found = false;
  each_seat(roster, [&](const api::Pod* pod) { found = found || (pod && test(*pod)); });
  return found;
}

bool every_seat(const Roster& roster, const PodTest& test) {
  return std::ranges::all_of(roster.benches,
                             [&](const Bench& bench) { return every_seat(bench, test); });
}

bool every_seat(const Bench& bench, const PodTest& test) {
  return std::ranges::all_of(bench.seats, [&](const api::Pod* pod) { return pod && test(*pod); });
}

api::RoleStatus count(const Bench& bench) {
  api::RoleStatus status;
  for (const api::Pod* pod : bench.seats) {
    if (!pod) continue;
    status.refs.push_back(reference(*pod));
    add(*pod, status);
  }
  return status;
}

bool work_done(const Roster& roster) {
  const auto succeeded = [](const api::Pod& pod) { return pod.phase == PodPhase::kSucceeded; };
  bool any = false;
  for (const Bench& bench : roster.benches) {
    if (bench.part.kind != RoleKind::kWorker || bench.seats.empty()) continue;
    if (!every_seat(bench, succeeded)) return false;
    any = true;
  }
  return any || (seats(roster) > 0 && every_seat(roster, succeeded));
}

}  // namespace paddle::controllers
