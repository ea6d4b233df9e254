// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/verdict.h"

#include <algorithm>

#include "controllers/paddle_job/active_time.h"
#include "controllers/paddle_job/node_life.h"
#include "controllers/paddle_job/pod_facts.h"
#include "controllers/paddle_job/rendezvous.h"

namespace paddle::controllers {
namespace {

// Where to look, with the first pod of each kind in the order of seats.
struct Findings {
  const api::Pod* failed_program = nullptr;
  const api::Pod* failed_disruption = nullptr;
  const api::Pod* leaving = nullptr;
  const api::Pod* back = nullptr;
  std::string missing{};  // name
};

Findings look_at(const api::PaddleJob& job, const Roster& roster) {
  Findings found;
  const auto note = [](const api::Pod*& first, const api::Pod* pod) {
    if (!first) first = pod;
  };
  for (const Bench& bench : roster.benches) {
    for (size_t i = 0; i < bench.seats.size(); ++i) {
      const api::Pod* pod = bench.seats[i];
      if (bench.done[i]) continue;
      if (!pod) {
        if (found.missing.empty()) {
          found.missing = pod_name(job, bench.part, static_cast<int>(i));
        }
      } else if (failed_by_disruption(*pod)) {
        note(found.failed_disruption, pod);
      } else if (failed(*pod)) {
        note(found.failed_program, pod);
      } else if (leaves(*pod)) {
        note(found.leaving, pod);
      } else if (came_back(*pod)) {
        note(found.back, pod);
      }
    }
  }
  return found;
}

Verdict begins_anew(const api::PaddleJob& job, const Setting& setting, Cause cause,
                    BlockReason why) {
  const bool by_owner = setting.one_machine && !job.spec.disruption_limit;
  if (cause == Cause::kDisruption && by_owner) cause = Cause::kOwner;
  const auto verdict = [&](Fate fate, BlockReason reason) {
    return Verdict{.fate = fate, .cause = cause, .why = std::move(reason)};
  };
  switch (cause) {
    case Cause::kSpec:
    case Cause::kOwner:
      return verdict(Fate::kBeginsAnew, std::move(why));
    case Cause::kProgram: {
      const int limit = job.spec.backoff_limit.value_or(0);
      if (job.status.failures < limit) return verdict(Fate::kBeginsAnew, std::move(why));
      if (limit == 0) return verdict(Fate::kFailed, std::move(why));
      return verdict(Fate::kFailed,
                     {"BackoffLimitExceeded",
                      "restarted " + (limit == 1 ? "once" : std::to_string(limit) + " times") +
                          ", as often as backoffLimit allows; now " + why.message});
    }
    case Cause::kDisruption:
      break;
  }
  const int limit = job.spec.disruption_limit.value_or(kDisruptionsByDefault);
  if (job.status.disruptions < limit) return verdict(Fate::kBeginsAnew, std::move(why));
  return verdict(Fate::kFailed, {"DisruptionLimitExceeded",
                                 "disrupted more often than disruptionLimit (" +
                                     std::to_string(limit) + ") allows; now " + why.message});
}

// A pod is lost for good, or somebody's address is not what the others were told.
std::optional<BlockReason> loss(const api::PaddleJob& job, const Roster& roster, const World& world,
                                const Findings& found) {
  if (found.failed_disruption) {
    return BlockReason{"PodDisrupted", how_it_failed(*found.failed_disruption)};
  }
  if (found.leaving) {
    return BlockReason{"PodLeaves", "pod " + found.leaving->meta.key.name + " is being taken away"};
  }
  if (!found.missing.empty()) {
    return BlockReason{"PodLost", "pod " + found.missing + " is gone"};
  }
  if (!knows_addresses(job, roster, world) && any_pod(roster, waits_for_release)) {
    return BlockReason{"PodLost", "a pod is gone before all of its peers were told its address"};
  }
  if (has_moved(job, roster, world)) {
    return BlockReason{"AddressChanged", "a pod has another address than its peers were told"};
  }
  return std::nullopt;
}

// Of a job in which a program failed beside that.
BlockReason why_lost(const api::PaddleJob& job, const Roster& roster, const World& world,
                     const Findings& found) {
  if (auto why = loss(job, roster, world, found)) return *std::move(why);
  const api::Pod* pod = found.back ? found.back : found.failed_program;
  if (pod == found.failed_program) return {"Failed", how_it_failed(*pod)};
  return {"NodeRestarted",
          "pod " + pod->meta.key.name + " starts again: its node was switched off and on"};
}

bool shape_changed(const api::PaddleJob& job, const World& world) {
  if (!is_published(job, world)) return false;
  const auto& said = world.rendezvous->meta.annotations;
  const auto shape = said.find(kShapeAnnotation);
  return shape != said.end() && shape->second != shape_of(job);
}

// The program ended badly somewhere. Was it to blame?
Verdict judge_failure(const api::PaddleJob& job, const Roster& roster, const World& world,
                      const Findings& found, WallTime now, const Setting& setting) {
  const BlockReason own{"Failed", how_it_failed(*found.failed_program)};
  const bool one_is_gone = !found.missing.empty() && has_begun(job, roster, world);
  if (found.failed_disruption || found.leaving || found.back || one_is_gone) {
    Verdict verdict =
        begins_anew(job, setting, Cause::kDisruption, why_lost(job, roster, world, found));
    verdict.rests_on_absence = one_is_gone;
    return verdict;
  }
  const NodesVerdict nodes = judge_nodes(roster, *found.failed_program, world.nodes, now);
  if (!nodes.ask_about.empty()) {
    return {.ask_about = nodes.ask_about, .again_at = nodes.again_at};
  }
  if (!nodes.silent.empty()) {
    return begins_anew(
        job, setting, Cause::kDisruption,
        {"NodeLost", "node " + nodes.silent + " stopped answering, then " + own.message});
  }
  return begins_anew(job, setting, Cause::kProgram, own);
}

}  // namespace

bool has_begun(const api::PaddleJob& job, const Roster& roster, const World& world) {
  if (is_published(job, world)) return true;
  return any_pod(roster, was_released) || any_done(roster);
}

bool replaces_one_by_one(const api::PaddleJob& job, const Roster& roster, const World& world,
                         const Setting& setting) {
  return is_elastic(job.spec, setting.etcd) || by_service(job.spec) ||
         !has_begun(job, roster, world);
}

Verdict judge(const api::PaddleJob& job, const Roster& roster, const World& world, WallTime now,
              const Setting& setting) {
  if (work_done(roster)) {
    return {.fate = Fate::kCompleted, .why = {"Completed", "every worker succeeded"}};
  }
  if (const auto deadline = deadline_of(job, now)) {
    if (now >= *deadline) {
      return {
          .fate = Fate::kFailed,
          .why = {"DeadlineExceeded", "the job did not end within activeDeadlineSeconds (" +
                                          std::to_string(*job.spec.active_deadline_seconds) + ")"}};
    }
  }
  const Findings found = look_at(job, roster);
  const bool begun = has_begun(job, roster, world);
  const bool elastic = is_elastic(job.spec, setting.etcd);
  if (begun && !elastic && shape_changed(job, world)) {
    return begins_anew(job, setting, Cause::kSpec,
                       {"SpecChanged", "the spec asks for other peers than this run has"});
  }
  if (found.failed_program) return judge_failure(job, roster, world, found, now, setting);
  if (replaces_one_by_one(job, roster, world, setting)) return {};
  auto lost = loss(job, roster, world, found);
  if (!lost) return {};
  Verdict verdict = begins_anew(job, setting, Cause::kDisruption, std::move(*lost));
  verdict.rests_on_absence = !found.missing.empty();
  return verdict;
}

}  // namespace paddle::controllers
