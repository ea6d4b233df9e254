// SPDX-License-Identifier: Apache-2.0
//
// What the pods mean for the job: it continues, is complete, has failed, or restarts. Pure.
//
// A job whose peers know each other by address restarts as a whole when a pod is lost or gets
// another address: the environment of the other pods has the old address and cannot change. With
// stable names (intranet Service), in elastic jobs, and before any pod was given the addresses,
// only the lost pod is created again.
//
//   cause        counted against       when the limit is reached
//   program      spec.backoffLimit     the job fails (the default limit is 0)
//   container    spec.backoffLimit     the job fails (without a limit by default)
//   disruption   spec.disruptionLimit  the job fails (the default limit is 3); counted from 0
//                                      again after an hour of running (spec/deadlines.h)
//   spec         -                     (another number of replicas, another intranet, ...)
//   owner        -                     (a disruption on a single machine, without a limit)
//   ignored      -                     (a rule of spec.failurePolicy; decide/failure_rules.h)
//
// A container that its kubelet restarts in place (restartPolicy OnFailure or Always) counts with
// all restarts of this epoch. Without a backoffLimit it is restarted without end: a job with
// OnFailure and no limit asks for that.
//
// Pods that fail because another pod was taken away are disrupted: a pod that is being deleted, or
// a node that has not renewed its lease since the program ended, excuses all other failures.

#pragma once

#include <optional>
#include <set>
#include <string>

#include "api/paddle_job.h"
#include "base/clock.h"
#include "controllers/paddle_job/config.h"
#include "controllers/paddle_job/decide/pods/replica_slots.h"
#include "controllers/paddle_job/decide/template_change.h"
#include "controllers/paddle_job/world.h"

namespace paddle::controllers::paddle_job {

enum class Outcome { kContinue, kCompleted, kFailed, kRestart };
enum class Cause { kProgram, kDisruption, kSpec, kOwner, kIgnored };

struct JobDecision {
  Outcome outcome = Outcome::kContinue;
  Cause cause = Cause::kProgram;
  BlockReason reason{};  // for every outcome but kContinue

  // The decision rests on a pod that the informer does not show: confirm that it is missing.
  bool rests_on_missing_pod = false;
  // Leases of nodes that have to be read before a failure can be judged; the job continues
  // meanwhile.
  std::set<std::string> unread_leases{};
  std::optional<WallTime> due{};  // evaluate again at this time
};

inline constexpr int kDefaultDisruptionLimit = 3;

JobDecision evaluate(const api::PaddleJob& job, const ReplicaSlots& slots, const World& world,
                     const TemplateChange& change, WallTime now, const Config& config);

// A pod has been given the addresses of this epoch, so they may not change any more.
bool has_begun(const api::PaddleJob& job, const ReplicaSlots& slots, const World& world);
// Whether a lost pod is created again without a restart of the others.
bool replaces_single_pods(const api::PaddleJob& job, const ReplicaSlots& slots, const World& world,
                          const Config& config);

}  // namespace paddle::controllers::paddle_job
