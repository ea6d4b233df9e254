// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/plan.h"

#include <algorithm>

#include "controllers/paddle_job/active_time.h"
#include "controllers/paddle_job/creation.h"
#include "controllers/paddle_job/finishing.h"
#include "controllers/paddle_job/holds.h"
#include "controllers/paddle_job/objections.h"
#include "controllers/paddle_job/pod_facts.h"
#include "controllers/paddle_job/progress.h"
#include "controllers/paddle_job/pruning.h"
#include "controllers/paddle_job/release.h"
#include "controllers/paddle_job/soonest.h"

namespace paddle::controllers {
namespace {

constexpr std::chrono::seconds kAskForPorts{10};

void add_wave(Plan& plan, Wave wave) {
  if (!wave.empty()) plan.waves.push_back(std::move(wave));
}

void say(const api::PaddleJob& job, api::PaddleJobStatus status, Plan& plan) {
  if (status == job.status) return;
  plan.status_is_news = is_news(job.status, status);
  // An elastic job without a status is, to operators of before, one whose etcd is not clean.
  plan.status_remembers = successes_in(job.status) != successes_in(status);
  plan.status_gives_way = plan.status_is_news && !plan.status_remembers && !job.spec.elastic &&
                          only_on_its_way(job.status, status);
  plan.status = std::move(status);
}

// Stored first; whatever follows from it is the next plan's.
Plan only(api::PaddleJobStatus status) {
  return {.status = std::move(status), .status_first = true, .status_is_news = true};
}

bool has_old_finalizer(const api::PaddleJob& job) {
  return std::ranges::find(job.meta.finalizers, kFinalizer) != job.meta.finalizers.end();
}

Plan for_deleted(const api::PaddleJob& job) {  // owner references collect the children
  Plan plan;
  if (has_old_finalizer(job)) add_wave(plan, {DropFinalizer{}});
  api::PaddleJobStatus status = job.status;
  status.phase = "Terminating";
  say(job, std::move(status), plan);
  return plan;
}

Plan for_suspended(const api::PaddleJob& job, const Sight& sight, WallTime now,
                   const Setting& setting) {
  api::PaddleJobStatus status = observe(job, sight, now, setting);
  const bool anything = !sight.world.pods.empty() || has_begun(job, sight.roster, sight.world);
  if (anything && job.status.phase != "Suspended") {
    return only(next_epoch(std::move(status), {.cause = Cause::kSpec}, now));
  }
  Plan plan;
  say(job, std::move(status), plan);
  Pruned pruned = prune(job, sight, now, setting);
  for (const api::Pod* pod : all_seated(sight.roster)) {
    if (!pod->meta.deleting()) pruned.wave.push_back(delete_pod(*pod));
  }
  // Volcano would go on keeping room for the gang.
  if (auto group = delete_pod_group(job, sight.world)) pruned.wave.push_back(std::move(*group));
  add_wave(plan, std::move(pruned.wave));
  plan.ask_about = std::move(pruned.ask_about);
  soonest(plan.again_at, pruned.again_at);
  return plan;
}

BlockReason waits_for_clean_etcd() {
  return {"EtcdUnavailable",
          "waiting until what a job of this name may have left in etcd is removed"};
}

// A block of ports of the nodes, remembered before any pod is made.
std::optional<Plan> take_ports(const api::PaddleJob& job, Sight& sight, WallTime now,
                               const Setting& setting) {
  if (!on_host_network(job.spec) || remembered_port(job) > 0) return std::nullopt;
  const auto port = choose_ports(job.meta.uid, setting.host_ports, sight.world.ports_taken);
  Plan plan;
  if (!port) {
    sight.held = BlockReason{"NoFreePorts", port.error().message};
    plan.again_at = now + kAskForPorts;
    say(job, observe(job, sight, now, setting), plan);
    return plan;
  }
  api::PaddleJob with_port = job;
  with_port.status.port = *port;
  return only(observe(with_port, sight, now, setting));
}

Plan for_running(const api::PaddleJob& job, Sight& sight, WallTime now, const Setting& setting) {
  Plan plan;
  plan.keep_np = is_elastic(job.spec, setting.etcd);
  soonest(plan.again_at, deadline_of(job, now));
  soonest(plan.again_at, sight.verdict.again_at);
  plan.ask_about = sight.verdict.ask_about;

  Pruned pruned = prune(job, sight, now, setting);
  plan.ask_about.merge(pruned.ask_about);
  soonest(plan.again_at, pruned.again_at);
  add_wave(plan, std::move(pruned.wave));

  Held held = what_holds(job, sight, now, setting);
  sight.held = held.why;
  sight.cold = held.cold;
  // Said before it is done: afterwards no pod shows it any more.
  if (held.cold && !api::find_condition(job.status.conditions, "DataWarm")) {
    return only(observe(job, sight, now, setting));
  }
  soonest(plan.again_at, held.again_at);
  add_wave(plan, std::move(held.wave));
  if (const auto resumes = resumes_at(job); resumes && now < *resumes) {
    sight.pausing = true;
    soonest(plan.again_at, resumes);
  }
  if (held.may_create && !sight.pausing) {
    Wave missing = create_missing(job, sight, setting);
    plan.confirm = !missing.empty() && needs_confirmation(job, sight);
    const bool nobody = empty_seats(sight.roster) == seats(sight.roster);
    plan.clean_etcd = plan.keep_np && !missing.empty() && nobody && !sight.world.etcd_is_clean;
    if (plan.clean_etcd) {
      sight.held = waits_for_clean_etcd();
    } else {
      add_wave(plan, std::move(missing));
    }
  }
  Released released = release(job, sight, now, setting);
  soonest(plan.again_at, released.again_at);
  for (Wave& wave : released.waves) add_wave(plan, std::move(wave));
  say(job, observe(job, sight, now, setting), plan);
  return plan;
}

Plan decide(const api::PaddleJob& job, Sight& sight, WallTime now, const Setting& setting) {
  Plan plan;
  if (finished(job.status.phase)) {
    plan = for_finished(job, sight, now);
    say(job, observe(job, sight, now, setting), plan);
  } else if (job.spec.suspend && !work_done(sight.roster)) {
    plan = for_suspended(job, sight, now, setting);
  } else if (const auto objection = objection_to(job)) {
    sight.held = objection;
    say(job, observe(job, sight, now, setting), plan);
  } else if (auto taken = take_ports(job, sight, now, setting)) {
    plan = std::move(*taken);
  } else {
    sight.verdict = judge(job, sight.roster, sight.world, now, setting);
    if (sight.verdict.fate == Fate::kGoesOn && sight.roster.only_we_know) {
      plan = only(observe(job, sight, now, setting));
    } else if (sight.verdict.fate == Fate::kGoesOn) {
      plan = for_running(job, sight, now, setting);
    } else {
      auto status = observe(job, sight, now, setting);
      if (sight.verdict.fate == Fate::kBeginsAnew) {
        status = next_epoch(std::move(status), sight.verdict, now);
      }
      plan = only(std::move(status));
      plan.forget_np = sight.verdict.fate != Fate::kBeginsAnew && job.spec.elastic.has_value();
      plan.confirm = sight.verdict.rests_on_absence && !sight.world.confirmed;
    }
  }
  if (has_old_finalizer(job) && !plan.status_first) {
    plan.waves.insert(plan.waves.begin(), Wave{DropFinalizer{}});
  }
  return plan;
}

}  // namespace

Plan desired(const api::PaddleJob& job, const World& world, WallTime now, const Setting& setting) {
  if (job.meta.deleting()) return for_deleted(job);
  const Roster roster = seat(job, world.pods, world.noticed);
  if (roster.from_the_future) return {};  // the job's own change is still on its way to us

  Sight sight{.roster = roster, .world = world};
  if (!is_elastic(job.spec, setting.etcd) || !any_pod(roster, has_coordinator)) {
    return decide(job, sight, now, setting);
  }
  // The operator has come to know an etcd, or the spec says elastic, since these pods were made:
  // they have lists of their peers. Nobody among them may be elastic before all are.
  sight.not_elastic_yet = true;
  Setting ordinary = setting;
  ordinary.etcd.clear();
  return decide(job, sight, now, ordinary);
}

}  // namespace paddle::controllers
