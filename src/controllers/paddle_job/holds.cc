// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/holds.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "controllers/paddle_job/elastic.h"
#include "controllers/paddle_job/objections.h"
#include "controllers/paddle_job/owner.h"
#include "controllers/paddle_job/pod_facts.h"
#include "controllers/paddle_job/pods.h"
#include "controllers/paddle_job/pruning.h"
#include "controllers/paddle_job/soonest.h"
#include "controllers/placement/data_gate.h"

namespace paddle::controllers {
namespace {

constexpr std::chrono::seconds kAskForVolcano{30};
constexpr std::chrono::seconds kLookAtGate{10};

void hold(Held& held, BlockReason why) {
  held.may_create = false;
  if (!held.why) held.why = std::move(why);
}

// What the data gate says now, to pods that wait at it or will.
struct AtGate {
  bool any = false;  // pods wait there
  bool only = true;  // and nobody is beyond it
  GateAnswer answer{};
};

AtGate at_gate(const api::PaddleJob& job, const Sight& sight, WallTime now,
               const Setting& setting) {
  GateQuestion question{.workers = replicas_of(job.spec, RoleKind::kWorker)};
  if (is_elastic(job.spec, setting.etcd)) question.least = elastic_range(job.spec).least;
  AtGate found;
  for (const api::Pod* pod : all_seated(sight.roster)) {
    if (!waits_at_data_gate(*pod)) {
      found.only = false;
      continue;
    }
    found.any = true;
    const WallTime born = pod->meta.created.value_or(now);
    question.since = question.since ? std::min(*question.since, born) : born;
  }
  found.answer = decide_gate(*job.spec.sample_set, sight.world.data, question, now);
  return found;
}

bool only_data_is_missing(const api::PaddleJob& job, const Sight& sight, WallTime now,
                          const Setting& setting) {
  if (!job.spec.sample_set || !job.spec.sample_set->gate) return false;
  const AtGate gate = at_gate(job, sight, now, setting);
  return gate.only && !gate.answer.lift;
}

// The job as its gang is now: Volcano waits for no member that has succeeded and is gone.
api::PaddleJob without_those_who_left(api::PaddleJob job, const Roster& roster) {
  for (const Bench& bench : roster.benches) {
    if (api::Role* role = role_of(job.spec, bench.part)) role->replicas -= left(bench);
  }
  if (auto& policy = job.spec.scheduling_policy; policy && policy->min_available) {
    policy->min_available = std::min(*policy->min_available, total_replicas(job.spec));
  }
  return job;
}

Result<Wave> keep_group(const api::PaddleJob& job, const std::optional<PodGroupSeen>& seen,
                        Room room) {
  Wave wave;
  if (!seen) {
    TRY(api::Json group, pod_group_for(job, room));
    wave.emplace_back(Create{Child::kPodGroup, job.meta.key, std::move(group)});
  } else if (auto patch = pod_group_patch(job, *seen, room); patch && *patch) {
    wave.emplace_back(Patch{Child::kPodGroup, job.meta.key, **patch});
  }
  return wave;
}

void hold_for_gang(const api::PaddleJob& job, const Sight& sight, WallTime now,
                   const Setting& setting, Held& held) {
  if (!uses_pod_group(job.spec, setting.scheduling)) return;
  if (!sight.world.pod_groups_known) {
    soonest(held.again_at, now + kAskForVolcano);
    return hold(held, volcano_is_missing());
  }
  const auto& seen = sight.world.pod_group;
  const auto room = only_data_is_missing(job, sight, now, setting) ? Room::kNone : Room::kAll;
  auto group = left(sight.roster) == 0
                   ? keep_group(job, seen, room)
                   : keep_group(without_those_who_left(job, sight.roster), seen, room);
  if (!group) return hold(held, {"InvalidSpec", group.error().message});
  for (Action& action : *group) held.wave.push_back(std::move(action));
  // Only before the first pods, and the first after a suspension: later the scheduler itself keeps
  // the gang together.
  const bool resumed = api::find_condition(job.status.conditions, "Suspended") != nullptr;
  if (!sight.world.pods.empty() || (job.status.epoch > 0 && !resumed)) return;
  if (auto waiting = waits_for_pod_group(job, seen)) hold(held, std::move(*waiting));
}

void lift_gates(const api::PaddleJob& job, const Sight& sight, const Setting& setting, Held& held) {
  for (const Bench& bench : sight.roster.benches) {
    for (size_t i = 0; i < bench.seats.size(); ++i) {
      const api::Pod* pod = bench.seats[i];
      if (!pod || !waits_at_data_gate(*pod)) continue;
      const auto spec =
          placed_spec(job, bench.part, static_cast<int>(i), sight.world.data, setting);
      const std::string place = bench.part.kind == RoleKind::kWorker
                                    ? must_go_to(*job.spec.sample_set, sight.world.data,
                                                 bench.part.first.of_kind + static_cast<int>(i))
                                    : std::string();
      if (auto patch = lift_patch(pod->meta.uid, pod->gates, spec, place)) {
        held.wave.emplace_back(Patch{Child::kPod, pod->meta.key, std::move(*patch), true});
      }
    }
  }
}

void hold_for_gate(const api::PaddleJob& job, const Sight& sight, WallTime now,
                   const Setting& setting, Held& held) {
  const AtGate gate = at_gate(job, sight, now, setting);
  if (!gate.any) return;
  const GateAnswer& answer = gate.answer;
  if (answer.lift) {
    if (!answer.waiting.reason.empty()) held.cold = answer.waiting;
    return lift_gates(job, sight, setting, held);
  }
  if (!held.why) held.why = answer.waiting;
  soonest(held.again_at, now + std::min(answer.ask_again_in.value_or(kLookAtGate), kLookAtGate));
}

void hold_for_data(const api::PaddleJob& job, const Sight& sight, WallTime now,
                   const Setting& setting, Held& held) {
  if (!job.spec.sample_set) return;
  const auto& ref = *job.spec.sample_set;
  if (sight.world.pods.empty()) {
    if (auto objection = objection_to_mount(job)) return hold(held, std::move(*objection));
    auto waiting = waits_for_data(job.meta.key, ref, sight.world.data);
    if (waiting) return hold(held, std::move(*waiting));
  }
  if (ref.gate) hold_for_gate(job, sight, now, setting, held);
}

}  // namespace

Held what_holds(const api::PaddleJob& job, const Sight& sight, WallTime now,
                const Setting& setting) {
  Held held;
  hold_for_data(job, sight, now, setting, held);
  // The gang asks for room only when its set is there. Pods that are to wait at the gate need the
  // group before them: the admission of many a Volcano refuses pods without one.
  if (held.may_create) hold_for_gang(job, sight, now, setting, held);
  return held;
}

}  // namespace paddle::controllers
