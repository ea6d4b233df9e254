// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/conditions.h"

#include <algorithm>

#include "controllers/paddle_job/objections.h"
#include "controllers/paddle_job/pod_facts.h"

namespace paddle::controllers {
namespace {

class Conditions {
 public:
  Conditions(api::Conditions& list, std::int64_t generation, WallTime now)
      : list_(list), generation_(generation), now_(now) {}

  void say(const char* type, bool holds, Waiting why) {
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
std::optional<Waiting> first_stuck(const Roster& roster) {
  for (const Bench& bench : roster.benches) {
    for (const api::Pod* pod : bench.seats) {
      if (!pod || pod->meta.deleting()) continue;
      if (auto why = what_holds_up(*pod)) return why;
    }
  }
  return std::nullopt;
}

Waiting suspended(const World& world) {
  if (world.pods.empty()) return {"Suspended", "the job has no pods"};
  const size_t left = world.pods.size();
  return {"Suspended",
          "waiting for " + std::to_string(left) + (left == 1 ? " pod" : " pods") + " to be gone"};
}

Waiting what_is_missing(const api::PaddleJob& job, const Sight& sight, const std::string& phase) {
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

Waiting why_not_ready(const api::PaddleJob& job, const Sight& sight, const std::string& phase) {
  if (finished(phase) || sight.verdict.fate == Fate::kBeginsAnew) return sight.verdict.why;
  if (phase == "Suspended") return {"Suspended", "spec.suspend is true; set it to false to go on"};
  return what_is_missing(job, sight, phase);
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
  }
  const auto texts = doubts_about(job, setting);
  if (texts.empty()) return conditions.drop("Warning");
  std::string all;
  for (const auto& text : texts) all += (all.empty() ? "" : "; ") + text;
  conditions.say("Warning", true, {"CheckSpec", all});
}

}  // namespace paddle::controllers
