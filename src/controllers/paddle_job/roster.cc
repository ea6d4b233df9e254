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
    for (size_t i = 0; i < bench.seats.size(); ++i) each(bench.seats[i], bench.done[i]);
  }
}

bool succeeded(const api::Pod& pod) { return pod.phase == PodPhase::kSucceeded; }

std::vector<bool> done_of(const Part& part, const Successes& successes, std::int64_t epoch) {
  const auto found = successes.parts.find(part.name);
  const bool any = found != successes.parts.end() && successes.epoch == epoch;
  return parse_indexes(any ? std::string_view(found->second) : std::string_view(), part.replicas);
}

}  // namespace

Roster seat(const api::PaddleJob& job, const std::vector<PodPtr>& pods, const Successes& noticed) {
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
  const Successes stored = successes_in(job.status);
  for (Part& part : parts_of(job.spec)) {
    Bench& bench = roster.benches.emplace_back();
    bench.done = done_of(part, stored, job.status.epoch);
    const std::vector<bool> lately = done_of(part, noticed, job.status.epoch);
    for (int index = 0; index < part.replicas; ++index) {
      const auto i = static_cast<size_t>(index);
      const auto seated = present.extract(pod_name(job, part, index));
      const api::Pod* pod = seated ? seated.mapped() : nullptr;
      // What succeeded does not run again: a pod that seems to is seen as it was long ago.
      if (pod && (bench.done[i] || lately[i]) && !succeeded(*pod)) pod = nullptr;
      if (!bench.done[i] && lately[i] && !pod) roster.only_we_know = true;
      if (lately[i] || (pod && succeeded(*pod) && !pod->meta.deleting())) bench.done[i] = true;
      bench.seats.push_back(pod);
    }
    bench.part = std::move(part);
  }
  for (const auto& [name, pod] : present) roster.surplus.push_back(pod);
  std::ranges::sort(roster.old, {}, [](const api::Pod* pod) { return pod->meta.key; });
  return roster;
}

int seats(const Roster& roster) {
  int all = 0;
  each_seat(roster, [&](const api::Pod*, bool) { ++all; });
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
  each_seat(roster, [&](const api::Pod* pod, bool done) { empty += pod || done ? 0 : 1; });
  return empty;
}

int without_address(const Roster& roster) {
  int without = 0;
  each_seat(roster, [&](const api::Pod* pod, bool done) {
    without += !done && (!pod || pod->ip.empty() || pod->meta.deleting()) ? 1 : 0;
  });
  return without;
}

int left(const Bench& bench) {
  int count = 0;
  for (size_t i = 0; i < bench.seats.size(); ++i) count += bench.done[i] && !bench.seats[i] ? 1 : 0;
  return count;
}

int left(const Roster& roster) {
  int all = 0;
  for (const Bench& bench : roster.benches) all += left(bench);
  return all;
}

bool any_done(const Roster& roster) {
  bool found = false;
  each_seat(roster, [&](const api::Pod*, bool done) { found = found || done; });
  return found;
}

bool any_pod(const Roster& roster, const PodTest& test) {
  bool found = false;
  each_seat(roster, [&](const api::Pod* pod, bool) { found = found || (pod && test(*pod)); });
  return found;
}

bool every_seat(const Roster& roster, const PodTest& test) {
  return std::ranges::all_of(roster.benches,
                             [&](const Bench& bench) { return every_seat(bench, test); });
}

bool every_seat(const Bench& bench, const PodTest& test) {
  for (size_t i = 0; i < bench.seats.size(); ++i) {
    if (!bench.done[i] && !(bench.seats[i] && test(*bench.seats[i]))) return false;
  }
  return true;
}

api::RoleStatus count(const Bench& bench) {
  api::RoleStatus status;
  for (const api::Pod* pod : bench.seats) {
    if (!pod) continue;
    status.refs.push_back(reference(*pod));
    add(*pod, status);
  }
  status.succeeded += left(bench);
  status.completed_indexes = indexes_text(bench.done);
  return status;
}

bool work_done(const Roster& roster) {
  const auto all_done = [](const Bench& bench) {
    return std::find(bench.done.begin(), bench.done.end(), false) == bench.done.end();
  };
  bool any = false;
  for (const Bench& bench : roster.benches) {
    if (bench.part.kind != RoleKind::kWorker || bench.seats.empty()) continue;
    if (!all_done(bench)) return false;
    any = true;
  }
  return any || (seats(roster) > 0 && std::ranges::all_of(roster.benches, all_done));
}

}  // namespace paddle::controllers
