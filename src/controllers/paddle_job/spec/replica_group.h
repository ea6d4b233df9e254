// SPDX-License-Identifier: Apache-2.0
//
// The replica groups of a job: its roles ps, worker and heter, or its tasks in the order of the
// spec. Ranks, lists of peers and starts follow the order of the groups. Pure.
//
// The kind of a task follows from the mode of the job and from the task's type, which is its name
// up to the first dash in capitals (ps-1 is a PS, gpu a GPU):
//
//   PS               PS: server, HETER: heterogeneous trainer, DRIVER: driver, any other: trainer
//   Collective       all are trainers, whatever their names
//   Single, Custom   all are trainers, and each pod trains without peers

#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "api/paddle_job.h"

namespace paddle::controllers::paddle_job {

enum class RoleKind { kPs, kWorker, kHeter, kDriver };
// The roles of a spec in the order of their ranks. (Only a task can be a driver.)
inline constexpr std::array kRoles{RoleKind::kPs, RoleKind::kWorker, RoleKind::kHeter};

std::string to_string(RoleKind kind);  // ps, worker, heter, driver
std::optional<api::RoleStatus>& role_status(api::PaddleJobStatus& status, RoleKind role);

// Ranks of the first pod of a group; those of its other pods follow.
struct FirstRanks {
  int trainer =
      0;  // PADDLE_TRAINER_ID: its position in the list of its kind, if the mode has lists
  int of_kind = 0;  // among all pods of this kind
  int of_type = 0;  // among all pods of tasks of this type
  int of_job = 0;   // among all pods
};

struct ReplicaGroup {
  RoleKind kind = RoleKind::kWorker;
  std::string name{};  // ps, worker, heter, or the name of the task
  std::string type{};  // of a task; empty: a role
  int position = 0;    // in the list of groups
  int replicas = 0;
  std::optional<int> min_replicas{};  // of an elastic job
  std::optional<int> max_replicas{};
  api::Opaque pod_template{};
  std::string restart_policy{};  // for a template without one
  FirstRanks first{};
};

bool is_task(const ReplicaGroup& group);

// All groups that the spec names, including those with 0 replicas.
std::vector<ReplicaGroup> replica_groups(const api::PaddleJobSpec& spec);

// The part of the spec that describes the group; null: the group is not of this spec.
api::Role* role_of(api::PaddleJobSpec& spec, const ReplicaGroup& group);

bool has_servers(const api::PaddleJobSpec& spec);                // a group of parameter servers
int replicas_of(const api::PaddleJobSpec& spec, RoleKind kind);  // of all groups of this kind
int total_replicas(const api::PaddleJobSpec& spec);

// The mode of the spec; without one, PS when there are servers, Collective with more than one
// trainer, else Single.
std::string mode_of(const api::PaddleJobSpec& spec);
// Pods get no lists of peers: a job of tasks in mode Single or Custom.
bool has_no_peers(const api::PaddleJobSpec& spec);

// How pods reach each other: by address (intranet PodIP, the default), by the name of a Service per
// pod, or on the network of their nodes.
bool uses_services(const api::PaddleJobSpec& spec);      // intranet: Service
bool uses_host_network(const api::PaddleJobSpec& spec);  // intranet: Host

std::string pod_name(const api::PaddleJob& job, const ReplicaGroup& group, int index);
std::string pod_name(const api::PaddleJob& job, RoleKind role, int index);

// TRAINING_ROLE as Paddle reads it: PSERVER, TRAINER, HETER_TRAINER; else the type of the task.
std::string training_role(const api::PaddleJobSpec& spec, const ReplicaGroup& group);
// PADDLE_TRAINING_ROLE as the Go operator sets it: the same, except HETER.
std::string old_training_role(const api::PaddleJobSpec& spec, const ReplicaGroup& group);

}  // namespace paddle::controllers::paddle_job
