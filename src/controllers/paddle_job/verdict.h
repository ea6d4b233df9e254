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
#include "controllers/paddle_job/roster.h"
#include "controllers/paddle_job/setting.h"
#include "controllers/paddle_job/world.h"

namespace paddle::controllers {

enum class Fate { kGoesOn, kCompleted, kFailed, kBeginsAnew };
enum class Cause { kProgram, kDisruption, kSpec, kOwner };

struct Verdict {
  Fate fate = Fate::kGoesOn;
  Cause cause = Cause::kProgram;
  BlockReason why{};  // reason and sentence, when it does not simply go on

  // The verdict rests on pods that are not seen any more: make sure first.
  bool rests_on_absence = false;
  // Nodes to ask for a sign of life before this verdict holds; until then the job goes on.
  std::set<std::string> ask_about{};
  std::optional<WallTime> again_at{};
};

inline constexpr int kDisruptionsByDefault = 3;

Verdict judge(const api::PaddleJob& job, const Roster& roster, const World& world, WallTime now,
              const Setting& setting);

// Somebody has been told the addresses of this epoch, so nobody's may change.
bool has_begun(const api::PaddleJob& job, const Roster& roster, const World& world);
// A lost pod is made again without the others noticing.
bool replaces_one_by_one(const api::PaddleJob& job, const Roster& roster, const World& world,
                         const Setting& setting);

}  // namespace paddle::controllers
