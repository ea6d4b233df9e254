// SPDX-License-Identifier: Apache-2.0
//
// Who sits where: the job's pods put into the slots of its roles. Pure; the order in which pods
// come does not matter.

#pragma once

#include <map>
#include <vector>

#include "api/paddle_job.h"
#include "api/pod.h"
#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/rendezvous.h"

namespace paddle::controllers {

struct Roster {
  std::map<RoleKind, std::vector<const api::Pod*>> slots{};  // null: missing
  std::vector<const api::Pod*> surplus{};                    // fit no slot
};
Roster seat(const api::PaddleJob& job, const std::vector<api::Pod>& pods);

int missing(const Roster& roster);
// Pods that have no address yet or are on their way out count as not there.
int without_address(const Roster& roster);
Addresses addresses(const Roster& roster);

// pending, starting, running, ... of one role, with a reference to each pod.
api::RoleStatus count(const std::vector<const api::Pod*>& slots);

bool any_failed(const Roster& roster);
// Every worker succeeded (every pod, when there are no workers).
bool work_done(const Roster& roster);
// No pod is missing or waits: all run, or have already succeeded.
bool all_started(const Roster& roster);

}  // namespace paddle::controllers
