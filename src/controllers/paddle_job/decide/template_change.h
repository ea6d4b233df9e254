// SPDX-License-Identifier: Apache-2.0
//
// An edit of a template while the job has pods, and a restart on request. Pure.
//
//   no program has started     the job restarts with the new template; it lost nothing
//   later                      the pods keep the previous template, and the condition UpdatePending
//                              names the annotation that restarts the job
//   a pod has to be created    the job restarts: the pods of an epoch have one template (only with
//                              intranet Service and in elastic jobs; all other jobs restart anyway)
//
// None of these restarts is counted. Every restart, for whatever reason, uses the current template.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controllers/paddle_job/decide/pods/replica_slots.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers::paddle_job {

// The pods that were built from another template than the spec has now.
struct TemplateChange {
  int pods = 0;
  std::vector<std::string> groups{};  // names of their replica groups
};
// Pods that have succeeded or are being deleted do not count.
TemplateChange template_change(const api::PaddleJob& job, const ReplicaSlots& slots);

// A container of a template has been started in this epoch.
bool any_program_started(const ReplicaSlots& slots);

// The user has changed the restart annotation since the job last took notice of it.
bool restart_requested(const api::PaddleJob& job);

// The message of the condition UpdatePending.
std::string update_message(const api::PaddleJob& job, const TemplateChange& change);

}  // namespace paddle::controllers::paddle_job
