// SPDX-License-Identifier: Apache-2.0
//
// What the pods mean for the job: it goes on, it is done, it has failed, or it begins anew. Pure.
//
// A job whose peers are named by address begins anew as a whole when a pod is lost or moves: the
// environment of the others names the old address, and can not change. With stable names (intranet
// Service) and in elastic jobs a lost pod is simply made again. Before anybody was told the
// addresses, every job can do so.
//
//   cause         counted against       when it is used up, or none is given
//   the program   spec.backoffLimit     the job fails (none is given by default)
//   a disruption  spec.disruptionLimit  the job fails (3 by default)
//   the spec      nothing               (another number of replicas, another intranet, ...)
//   the owner     nothing               (a disruption on one machine, when no limit is given)
//
// When pods end because another one was taken away, that is a disruption: a pod that leaves, or a
// node that has shown no life since the program ended, excuses all failures beside it.

#pragma once

#include <optional>
#include <set>
#include <string>

#include "api/paddle_job.h"
#include "base/clock.h"
#include "controllers/paddle_job/config.h"
#include "controllers/paddle_job/decide/replica_slots.h"
#include "controllers/paddle_job/world.h"

namespace paddle::controllers::paddle_job {

enum class Outcome { kContinue, kCompleted, kFailed, kRestart };
enum class Cause { kProgram, kDisruption, kSpec, kOwner };

struct JobDecision {
  Outcome outcome = Outcome::kContinue;
  Cause cause = Cause::kProgram;
  BlockReason why{};  // reason and sentence, when it does not simply go on

  // The verdict rests on pods that are not seen any more: make sure first.
  bool rests_on_missing_pod = false;
  // Nodes to ask for a sign of life before this verdict holds; until then the job goes on.
  std::set<std::string> nodes_to_check{};
  std::optional<WallTime> again_at{};
};

inline constexpr int kDisruptionsByDefault = 3;

JobDecision evaluate(const api::PaddleJob& job, const ReplicaSlots& slots, const World& world,
                     WallTime now, const Config& config);

// Somebody has been told the addresses of this epoch, so nobody's may change.
bool has_begun(const api::PaddleJob& job, const ReplicaSlots& slots, const World& world);
// A lost pod is made again without the others noticing.
bool replaces_single_pods(const api::PaddleJob& job, const ReplicaSlots& slots, const World& world,
                          const Config& config);

}  // namespace paddle::controllers::paddle_job
