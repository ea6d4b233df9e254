// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/conditions.h"

#include <algorithm>

#include "controllers/paddle_job/decide/pod_facts.h"
#include "controllers/paddle_job/spec/validation.h"
#include "controllers/placement/placement.h"

namespace paddle::controllers::paddle_job {
namespace {

constexpr int kWorkersNamed = 5;

class Conditions {
 public:
  Conditions(api::Conditions& list, std::int64_t generation, WallTime now)
      : list_(list), generation_(generation), now_(now) {}

  void set(const char* type, bool holds, BlockReason why) {
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
std::optional<BlockReason> first_stuck(const ReplicaSlots& slots) {
  for (const GroupSlots& group : slots.groups) {
    for (const api::Pod* pod : group.pods) {
      if (!pod || pod->meta.deleting()) continue;
      if (auto why = stuck_reason(*pod)) return why;
    }
  }
  return std::nullopt;
}

// Workers that may run on any node although a partition is theirs: it had no node when their pods
// were made, or was lost before they were scheduled (placement.h). Nothing when there is none.
std::optional<BlockReason> away_from_data(const api::PaddleJob& job, const PlanContext& context) {
  const auto& set = context.world.data.set;
  const auto workers = slots_of(context.slots, RoleKind::kWorker);
  std::string indexes;
  int count = 0;
  const int partitions =
      std::min(set->spec.effective_partitions(), static_cast<int>(workers.size()));
  for (int i = 0; i < partitions; ++i) {
    const api::Pod* pod = workers[static_cast<size_t>(i)];
    if (!pod || pod->meta.deleting() || !pod->gates.empty()) continue;
    if (pod->meta.annotations.contains(placement::kPlacedAnnotation)) continue;
    if (++count <= kWorkersNamed) indexes += (indexes.empty() ? "" : ", ") + std::to_string(i);
  }
  if (count == 0) return std::nullopt;
  if (count > kWorkersNamed) indexes += " and " + std::to_string(count - kWorkersNamed) + " more";
  const std::string set_name = job.spec.sample_set->name;
  if (count == 1) {
    return BlockReason{"NoNode", "worker " + indexes +
                                     " may run on any node and read from afar: its " +
                                     "partition of the SampleSet " + set_name + " had no node"};
  }
  return BlockReason{"NoNode", "workers " + indexes +
                                   " may run on any node and read from afar: their " +
                                   "partitions of the SampleSet " + set_name + " had no node"};
}

BlockReason suspended(const World& world) {
  if (world.pods.empty()) return {"Suspended", "the job has no pods"};
  const size_t left = world.pods.size();
  return {"Suspended",
          "waiting for " + std::to_string(left) + (left == 1 ? " pod" : " pods") + " to be gone"};
}

BlockReason startup_block_reason(const api::PaddleJob& job, const PlanContext& context,
                                 const std::string& phase) {
  if (context.world.trouble) return *context.world.trouble;
  if (context.blocked) return *context.blocked;
  const ReplicaSlots& slots = context.slots;
  if (phase == "Restarting") {
    if (!slots.old.empty()) {
      return {"Restarting", "waiting for " + std::to_string(slots.old.size()) +
                                " pods of the last run to be gone"};
    }
    return {"Restarting", "a pause before the job begins anew"};
  }
  if (auto stuck = first_stuck(slots)) return *std::move(stuck);
  const int total = total_replicas(job.spec);
  if (const int left = without_address(slots); left > 0) {
    return {"WaitingForPods", std::to_string(total - left) + " of " + std::to_string(total) +
                                  " pods have an address; see kubectl describe pod for what holds "
                                  "one up"};
  }
  return {"Starting", "all pods have an address; containers are starting"};
}

BlockReason not_ready_reason(const api::PaddleJob& job, const PlanContext& context,
                             const std::string& phase) {
  if (finished(phase) || context.decision.outcome == Outcome::kRestart) return context.decision.why;
  if (phase == "Suspended") return {"Suspended", "spec.suspend is true; set it to false to go on"};
  return startup_block_reason(job, context, phase);
}

// As long as somebody is away from it; a job without a set, or without workers, does not say.
void set_data_local(const api::PaddleJob& job, const PlanContext& context, Conditions& conditions) {
  const auto& ref = job.spec.sample_set;
  if (!ref || ref->affinity == "preferred") return conditions.drop("DataLocal");
  if (!context.world.data.set || context.world.pods.empty()) return;  // as it was
  auto away = away_from_data(job, context);
  if (!away) return conditions.drop("DataLocal");
  conditions.set("DataLocal", false, *std::move(away));
}

// Of a job that was started before its samples were there, until other pods wait for them.
void set_data_warm(const api::PaddleJob& job, const PlanContext& context, Conditions& conditions) {
  const auto& ref = job.spec.sample_set;
  if (context.cold) return conditions.set("DataWarm", false, *context.cold);
  if (!ref || !ref->gate || any_pod(context.slots, waits_at_data_gate)) conditions.drop("DataWarm");
}

}  // namespace

void set_conditions(const api::PaddleJob& job, const PlanContext& context,
                    api::PaddleJobStatus& status, WallTime now, const Config& config) {
  Conditions conditions(status.conditions, job.meta.generation, now);
  const std::string& phase = status.phase;
  const bool was_finished = finished(job.status.phase);
  if (!was_finished) {
    if (phase == "Running" && context.world.trouble) {
      conditions.set("Ready", true, *context.world.trouble);
    } else if (phase == "Running") {
      conditions.set("Ready", true, {"Running", "every pod runs"});
    } else {
      conditions.set("Ready", false, not_ready_reason(job, context, phase));
    }
    if (phase == "Completed") conditions.set("Complete", true, context.decision.why);
    if (phase == "Failed") conditions.set("Failed", true, context.decision.why);
    if (phase == "Suspended") {
      conditions.set("Suspended", true, suspended(context.world));
    } else if (conditions.has("Suspended")) {
      conditions.set("Suspended", false, {"Resumed", "the job goes on"});
    }
    set_data_local(job, context, conditions);
    set_data_warm(job, context, conditions);
  }
  const auto texts = spec_warnings(job, config, context.began_without_etcd);
  if (texts.empty()) return conditions.drop("Warning");
  std::string all;
  for (const auto& text : texts) all += (all.empty() ? "" : "; ") + text;
  conditions.set("Warning", true, {"CheckSpec", all});
}

}  // namespace paddle::controllers::paddle_job
