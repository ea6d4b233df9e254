// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/conditions.h"

#include <algorithm>

#include "controllers/paddle_job/objections.h"
#include "controllers/paddle_job/pod_facts.h"
#include "controllers/placement/placement.h"

namespace paddle::controllers {
namespace {

constexpr int kWorkersNamed = 5;

class Conditions {
 public:
  Conditions(api::Conditions& list, std::int64_t generation, WallTime now)
      : list_(list), generation_(generation), now_(now) {}

  void say(const char* type, bool holds, BlockReason why) {
    api::set_condition(list_,
                       {.type = type,
                        .status = holds ? "True" : "False",
                        .reason = std::move(why.reason),
                        .message = std::move(why.message),
                        .observed_generation = generation_},
                       now_);
  }
  bool has(const char* type) const { return api::find_condition(list_, type) != nullptr; }
  void drop(const char* type) {
    std::erase_if(list_, [&](const api::Condition& c) { return c.type == type; });
  }

 private:
  api::Conditions& list_;
  const std::int64_t generation_;
  const WallTime now_;
};

// A pod that will not start by itself; the lowest seat speaks for all.
std::optional<BlockReason> first_stuck(const Roster& roster) {
  for (const Bench& bench : roster.benches) {
    for (const api::Pod* pod : bench.seats) {
      if (!pod || pod->meta.deleting()) continue;
      if (auto why = what_holds_up(*pod)) return why;
    }
  }
  return std::nullopt;
}

// Workers that may run on any node although a partition is theirs: it had no node when their pods
// were made, or was lost before they were scheduled (placement.h). Nothing when there is none.
std::optional<BlockReason> away_from_data(const api::PaddleJob& job, const Sight& sight) {
  const auto& set = sight.world.data.set;
  const auto workers = seats_of(sight.roster, RoleKind::kWorker);
  std::string who;
  int count = 0;
  const int parts = std::min(set->spec.effective_partitions(), static_cast<int>(workers.size()));
  for (int i = 0; i < parts; ++i) {
    const api::Pod* pod = workers[static_cast<size_t>(i)];
    if (!pod || pod->meta.deleting() || !pod->gates.empty()) continue;
    if (pod->meta.annotations.contains(kPlacedAnnotation)) continue;
    if (++count <= kWorkersNamed) who += (who.empty() ? "" : ", ") + std::to_string(i);
  }
  if (count == 0) return std::nullopt;
  if (count > kWorkersNamed) who += " and " + std::to_string(count - kWorkersNamed) + " more";
  const std::string set_name = job.spec.sample_set->name;
  if (count == 1) {
    return BlockReason{"NoNode", "worker " + who + " may run on any node and read from afar: its " +
                                     "partition of the SampleSet " + set_name + " had no node"};
  }
  return BlockReason{"NoNode", "workers " + who +
                                   " may run on any node and read from afar: their " +
                                   "partitions of the SampleSet " + set_name + " had no node"};
}

BlockReason suspended(const World& world) {
  if (world.pods.empty()) return {"Suspended", "the job has no pods"};
  const size_t left = world.pods.size();
  return {"Suspended",
          "waiting for " + std::to_string(left) + (left == 1 ? " pod" : " pods") + " to be gone"};
}

BlockReason what_is_missing(const api::PaddleJob& job, const Sight& sight,
                            const std::string& phase) {
  if (sight.world.trouble) return *sight.world.trouble;
  if (sight.held) return *sight.held;
  const Roster& roster = sight.roster;
  if (phase == "Restarting") {
    if (!roster.old.empty()) {
      return {"Restarting", "waiting for " + std::to_string(roster.old.size()) +
                                " pods of the last run to be gone"};
    }
    return {"Restarting", "a pause before the job begins anew"};
  }
  if (auto stuck = first_stuck(roster)) return *std::move(stuck);
  const int total = total_replicas(job.spec);
  if (const int left = without_address(roster); left > 0) {
    return {"WaitingForPods", std::to_string(total - left) + " of " + std::to_string(total) +
                                  " pods have an address; see kubectl describe pod for what holds "
                                  "one up"};
  }
  return {"Starting", "all pods have an address; containers are starting"};
}

BlockReason why_not_ready(const api::PaddleJob& job, const Sight& sight, const std::string& phase) {
  if (finished(phase) || sight.verdict.fate == Fate::kBeginsAnew) return sight.verdict.why;
  if (phase == "Suspended") return {"Suspended", "spec.suspend is true; set it to false to go on"};
  return what_is_missing(job, sight, phase);
}

// As long as somebody is away from it; a job without a set, or without workers, does not say.
void say_where_data_is(const api::PaddleJob& job, const Sight& sight, Conditions& conditions) {
  const auto& ref = job.spec.sample_set;
  if (!ref || ref->affinity == "preferred") return conditions.drop("DataLocal");
  if (!sight.world.data.set || sight.world.pods.empty()) return;  // as it was
  auto away = away_from_data(job, sight);
  if (!away) return conditions.drop("DataLocal");
  conditions.say("DataLocal", false, *std::move(away));
}

// Of a job that was started before its samples were there, until other pods wait for them.
void say_how_warm_data_is(const api::PaddleJob& job, const Sight& sight, Conditions& conditions) {
  const auto& ref = job.spec.sample_set;
  if (sight.cold) return conditions.say("DataWarm", false, *sight.cold);
  if (!ref || !ref->gate || any_pod(sight.roster, waits_at_data_gate)) conditions.drop("DataWarm");
}

}  // namespace

void set_conditions(const api::PaddleJob& job, const Sight& sight, api::PaddleJobStatus& status,
                    WallTime now, const Setting& setting) {
  Conditions conditions(status.conditions, job.meta.generation, now);
  const std::string& phase = status.phase;
  const bool was_finished = finished(job.status.phase);
  if (!was_finished) {
    if (phase == "Running" && sight.world.trouble) {
      conditions.say("Ready", true, *sight.world.trouble);
    } else if (phase == "Running") {
      conditions.say("Ready", true, {"Running", "every pod runs"});
    } else {
      conditions.say("Ready", false, why_not_ready(job, sight, phase));
    }
    if (phase == "Completed") conditions.say("Complete", true, sight.verdict.why);
    if (phase == "Failed") conditions.say("Failed", true, sight.verdict.why);
    if (phase == "Suspended") {
      conditions.say("Suspended", true, suspended(sight.world));
    } else if (conditions.has("Suspended")) {
      conditions.say("Suspended", false, {"Resumed", "the job goes on"});
    }
    say_where_data_is(job, sight, conditions);
    say_how_warm_data_is(job, sight, conditions);
  }
  const auto texts = doubts_about(job, setting, sight.not_elastic_yet);
  if (texts.empty()) return conditions.drop("Warning");
  std::string all;
  for (const auto& text : texts) all += (all.empty() ? "" : "; ") + text;
  conditions.say("Warning", true, {"CheckSpec", all});
}

}  // namespace paddle::controllers
