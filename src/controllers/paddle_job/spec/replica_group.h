// SPDX-License-Identifier: Apache-2.0
//
// The parts of a job, in the order in which ranks, lists and starts go: its roles ps, worker and
// heter, or its tasks as they are written. Pure.
//
// What a task is follows from the job's mode and from the task's type, its name up to the first
// dash in capitals (ps-1 is a PS, gpu a GPU):
//
//   PS                  PS serves, HETER trains heterogeneously, DRIVER drives, all others train
//   Collective          all train together, whatever they are called
//   Single, Custom      all train, each pod for itself

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/paddle_job.h"
#include "controllers/paddle_job/names.h"

namespace paddle::controllers::paddle_job {

// Of the first pod of a part; the others follow.
struct FirstRanks {
  int trainer = 0;  // PADDLE_TRAINER_ID: its place in the list of its kind, if the mode has lists
  int of_kind = 0;  // among all pods of this kind
  int of_type = 0;  // among all pods of tasks of this type
  int of_job = 0;   // among all pods
};

struct ReplicaGroup {
  RoleKind kind = RoleKind::kWorker;
  std::string name{};  // ps, worker, heter, or the task's
  std::string type{};  // of a task; empty: a role
  int position = 0;    // in the list of parts
  int replicas = 0;
  std::optional<int> least{};  // of an elastic job
  std::optional<int> most{};
  api::Opaque pod_template{};
  std::string restart_policy{};  // for a template that says nothing of it
  FirstRanks first{};
};

bool is_task(const ReplicaGroup& group);

// Those that the spec names, also with no replicas.
std::vector<ReplicaGroup> replica_groups(const api::PaddleJobSpec& spec);

// What the spec says of a part of it; null: the part is not of this spec.
api::Role* role_of(api::PaddleJobSpec& spec, const ReplicaGroup& group);

bool has_servers(const api::PaddleJobSpec& spec);                // a part that serves parameters
int replicas_of(const api::PaddleJobSpec& spec, RoleKind kind);  // of all parts of this kind
int total_replicas(const api::PaddleJobSpec& spec);

// What the tasks' own mode says; else PS when there are servers, Collective with more than one
// trainer, Single.
std::string mode_of(const api::PaddleJobSpec& spec);
// No pod is told of others: a job of tasks in mode Single or Custom.
bool has_no_peers(const api::PaddleJobSpec& spec);

std::string pod_name(const api::PaddleJob& job, const ReplicaGroup& group, int index);

// TRAINING_ROLE, as Paddle reads it: PSERVER, TRAINER, HETER_TRAINER; else the task's type.
std::string training_role(const api::PaddleJobSpec& spec, const ReplicaGroup& group);
// PADDLE_TRAINING_ROLE, as the Go operator had it: the same, but HETER.
std::string old_training_role(const api::PaddleJobSpec& spec, const ReplicaGroup& group);

}  // namespace paddle::controllers::paddle_job
