// SPDX-License-Identifier: Apache-2.0
//
// Who sits where: the job's pods of the present epoch on the seats of its parts. Pure; the order in
// which pods come does not matter.
//
// A seat whose pod has succeeded stays done when the pod goes: it is not empty, and nobody is
// missing from it. Of a pod that is being deleted, success may be only how its program ends when it
// is told to stop: its seat is not done, unless it was before.

#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/paddle_job.h"
#include "controllers/paddle_job/decide/completed_indexes.h"
#include "controllers/paddle_job/spec/replica_group.h"
#include "controllers/paddle_job/world.h"

namespace paddle::controllers::paddle_job {

struct GroupSlots {
  ReplicaGroup spec{};
  std::vector<const api::Pod*> pods{};  // by index; null: no pod
  std::vector<bool> done{};             // by index: its pod has succeeded in this epoch
};

struct ReplicaSlots {
  std::vector<GroupSlots> groups{};        // in the order of replica_groups()
  std::vector<const api::Pod*> surplus{};  // of this epoch, without a seat
  std::vector<const api::Pod*> old{};      // of earlier epochs
  std::set<std::string> names_in_use{};    // of all of them
  bool has_newer_epoch = false;            // a pod is of a later epoch: our view of the job is old
  bool has_unrecorded_success = false;     // of a success: no pod shows it, the status does not yet
};
// `noticed`: what was to be remembered when the job was last looked at, stored or not.
ReplicaSlots assign_pods(const api::PaddleJob& job, const std::vector<PodPtr>& pods,
                         const CompletedIndexes& last_completed = {});

int slot_count(const ReplicaSlots& slots);  // in all
// Of all parts of this kind, in the order of ranks; null: no pod.
std::vector<const api::Pod*> slots_of(const ReplicaSlots& slots, RoleKind kind);
int empty_slots(const ReplicaSlots& slots);  // that wait for a pod
// Seats that are not done and whose pod is not there, is on its way out, or has no address yet.
int without_address(const ReplicaSlots& slots);
// Seats that are done and have no pod any more.
int departed(const GroupSlots& group);
int departed(const ReplicaSlots& slots);
bool any_done(const ReplicaSlots& slots);

using PodTest = std::function<bool(const api::Pod&)>;
bool any_pod(const ReplicaSlots& slots, const PodTest& test);  // on a seat
bool every_slot(const ReplicaSlots& slots,
                const PodTest& test);  // is done, or has a pod that passes
bool every_slot(const GroupSlots& group, const PodTest& test);

// pending, starting, running, ... of one part, with a reference to each pod that is there.
api::RoleStatus count(const GroupSlots& group);

// Every worker succeeded (every pod, when there are no workers).
bool work_done(const ReplicaSlots& slots);

}  // namespace paddle::controllers::paddle_job
