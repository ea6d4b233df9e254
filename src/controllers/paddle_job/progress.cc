// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/progress.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "controllers/paddle_job/conditions.h"
#include "controllers/paddle_job/host_ports.h"
#include "controllers/paddle_job/pod_facts.h"
#include "controllers/paddle_job/rendezvous.h"

namespace paddle::controllers {
namespace {

std::string phase_of(const api::PaddleJob& job, const Sight& sight) {
  const std::string& last = job.status.phase;
  if (finished(last)) return last;
  if (sight.verdict.fate == Fate::kCompleted) return "Completed";
  if (sight.verdict.fate == Fate::kFailed) return "Failed";
  if (job.spec.suspend) return "Suspended";
  const Roster& roster = sight.roster;
  const bool anew = sight.verdict.fate == Fate::kBeginsAnew;
  if (anew || sight.pausing || !roster.old.empty()) return "Restarting";
  if (seats(roster) > 0 && every_seat(roster, has_started)) return "Running";
  // Workers end one after another: a job that ran goes on running until the last one has.
  const bool complete = seats(roster) > 0 && empty_seats(roster) == 0;
  if (last == "Running" && complete) return "Running";
  // From here on nothing is waited for but the pods themselves.
  if (complete && without_address(roster) == 0) return "Starting";
  return any_pod(roster, coordinating) ? "Starting" : "Pending";
}

void count_pods(const Roster& roster, api::PaddleJobStatus& status) {
  for (const RoleKind role : kRoles) status_of(status, role).reset();
  status.tasks.clear();
  std::size_t workers = 0;
  for (const Bench& bench : roster.benches) {
    api::RoleStatus seen = count(bench);
    if (bench.part.kind == RoleKind::kWorker) {
      workers += seen.refs.size() + static_cast<size_t>(left(bench));
    }
    if (is_task(bench.part)) {
      status.tasks[bench.part.name] = std::move(seen);
    } else {
      status_of(status, bench.part.kind) = std::move(seen);
    }
  }
  status.replicas = static_cast<std::int32_t>(workers);
}

auto said(const api::Condition& c) { return std::tie(c.type, c.status, c.reason); }

bool is_early(const std::string& phase) { return phase == "Pending" || phase == "Starting"; }

bool says_on_its_way(const api::Condition& c) {
  return c.type == "Ready" && c.status == "False" &&
         (c.reason == "WaitingForPods" || c.reason == "Starting");
}

}  // namespace

bool finished(const std::string& phase) { return phase == "Completed" || phase == "Failed"; }

api::PaddleJobStatus observe(const api::PaddleJob& job, const Sight& sight, WallTime now,
                             const Setting& setting) {
  api::PaddleJobStatus status = job.status;
  const bool was_finished = finished(status.phase);
  status.phase = phase_of(job, sight);
  status.mode = mode_of(job.spec);
  status.observed_generation = job.meta.generation;
  // Only blocks of the nodes' ports are remembered: a job that moves to the host network needs one.
  if (!was_finished) status.port = on_host_network(job.spec) ? remembered_port(job) : 0;
  status.selector = std::string(kJobNameLabel) + "=" + job.meta.key.name + "," + kResTypeLabel +
                    "=" + to_string(RoleKind::kWorker);
  // The last figures of a finished job stay, whoever cleans its pods.
  if (!was_finished) count_pods(sight.roster, status);
  if (status.phase == "Running" && !status.start_time) status.start_time = now;
  if (finished(status.phase) && !status.completion_time) status.completion_time = now;
  const auto& set = sight.world.data.set;
  if (job.spec.sample_set && set && !was_finished &&
      !any_pod(sight.roster, [](const api::Pod& pod) { return !waits_for_release(pod); })) {
    status.sample_set = data_version(*set);
  }
  set_conditions(job, sight, status, now, setting);
  return status;
}

api::PaddleJobStatus next_epoch(api::PaddleJobStatus status, const Verdict& verdict, WallTime now) {
  status.epoch += 1;
  forget_successes(status);
  if (verdict.cause == Cause::kProgram) status.failures += 1;
  if (verdict.cause == Cause::kDisruption) status.disruptions += 1;
  const bool counted = verdict.cause == Cause::kProgram || verdict.cause == Cause::kDisruption;
  if (counted) status.restart_time = now;  // a pause follows, the longer the more there were
  return status;
}

bool is_news(const api::PaddleJobStatus& before, const api::PaddleJobStatus& after) {
  const auto same = [&](const auto member) { return before.*member == after.*member; };
  using Status = api::PaddleJobStatus;
  if (!same(&Status::phase) || !same(&Status::mode) || !same(&Status::epoch) ||
      !same(&Status::port) || !same(&Status::observed_generation) || !same(&Status::sample_set) ||
      !same(&Status::selector)) {
    return true;
  }
  return !std::ranges::equal(
      before.conditions, after.conditions,
      [](const api::Condition& a, const api::Condition& b) { return said(a) == said(b); });
}

bool only_on_its_way(const api::PaddleJobStatus& before, const api::PaddleJobStatus& after) {
  const auto same = [&](const auto member) { return before.*member == after.*member; };
  using Status = api::PaddleJobStatus;
  if (!is_early(after.phase) || !same(&Status::epoch) || !same(&Status::sample_set)) return false;
  const bool first = before == Status{};
  if (!first && !(is_early(before.phase) && same(&Status::mode) && same(&Status::port) &&
                  same(&Status::observed_generation) && same(&Status::selector))) {
    return false;
  }
  const auto others = [](const api::Conditions& list) {
    std::vector<std::tuple<std::string, std::string, std::string>> found;
    for (const auto& each : list) {
      if (!says_on_its_way(each)) found.emplace_back(said(each));
    }
    return found;
  };
  return others(before.conditions) == others(after.conditions);
}

}  // namespace paddle::controllers
