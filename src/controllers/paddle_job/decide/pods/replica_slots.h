// SPDX-License-Identifier: Apache-2.0
//
// The replica slots of a job and the pods of the current epoch in them. Pure; the order of the pods
// does not matter.
//
// A slot whose pod has succeeded stays done when the pod is deleted: it is not empty and needs no
// new pod. A pod that is being deleted may succeed only because its program was asked to stop: its
// slot is not done, unless it was done before.

#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/paddle_job.h"
#include "controllers/paddle_job/decide/pods/completed_indexes.h"
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
  std::vector<const api::Pod*> surplus{};  // of this epoch, without a slot
  std::vector<const api::Pod*> old{};      // of earlier epochs
  std::set<std::string> names_in_use{};    // of all pods
  bool has_newer_epoch = false;  // a pod belongs to a later epoch: the job that we see is outdated
  // A success that no pod shows any more and the status does not have yet.
  bool has_unrecorded_success = false;
};
// `last_completed`: what the previous plan found, whether it has been stored or not.
ReplicaSlots assign_pods(const api::PaddleJob& job, const std::vector<PodPtr>& pods,
                         const CompletedIndexes& last_completed = {});

int slot_count(const ReplicaSlots& slots);
// Pods of all groups of this kind, in the order of ranks; null: no pod.
std::vector<const api::Pod*> pods_of(const ReplicaSlots& slots, RoleKind kind);
std::vector<const api::Pod*> assigned_pods(const ReplicaSlots& slots);  // without null
int empty_slots(const ReplicaSlots& slots);  // neither done nor with a pod
// Slots that are not done and whose pod is missing, is being deleted, or has no address yet.
int without_address(const ReplicaSlots& slots);
// Slots that are done and whose pod no longer exists.
int departed(const GroupSlots& group);
int departed(const ReplicaSlots& slots);
bool any_done(const ReplicaSlots& slots);

using PodTest = std::function<bool(const api::Pod&)>;
bool any_pod(const ReplicaSlots& slots, const PodTest& test);
bool every_slot(const ReplicaSlots& slots, const PodTest& test);  // is done, or its pod passes
bool every_slot(const GroupSlots& group, const PodTest& test);

// Counters of one group (pending, starting, running, ...), with a reference to each pod.
api::RoleStatus count(const GroupSlots& group);

// As many workers have succeeded as successPolicy requires: all, the first, or any. In a job
// without workers its pods count.
bool work_done(const api::PaddleJobSpec& spec, const ReplicaSlots& slots);

}  // namespace paddle::controllers::paddle_job
