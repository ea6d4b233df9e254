// SPDX-License-Identifier: Apache-2.0
//
// Who sits where: the job's pods of the present epoch on the seats of its parts. Pure; the order in
// which pods come does not matter.

#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "api/paddle_job.h"
#include "api/pod.h"
#include "controllers/paddle_job/parts.h"
#include "controllers/paddle_job/world.h"

namespace paddle::controllers {

struct Bench {
  Part part{};
  std::vector<const api::Pod*> seats{};  // by index; null: empty
};

struct Roster {
  std::vector<Bench> benches{};            // in the order of parts_of()
  std::vector<const api::Pod*> surplus{};  // of this epoch, without a seat
  std::vector<const api::Pod*> old{};      // of earlier epochs
  std::set<std::string> names_in_use{};    // of all of them
  bool from_the_future = false;            // a pod is of a later epoch: our view of the job is old
};
Roster seat(const api::PaddleJob& job, const std::vector<PodPtr>& pods);

int seats(const Roster& roster);  // in all
// Of all parts of this kind, in the order of ranks; null: empty.
std::vector<const api::Pod*> seats_of(const Roster& roster, RoleKind kind);
int empty_seats(const Roster& roster);
// Seats whose pod is not there, is on its way out, or has no address yet.
int without_address(const Roster& roster);

using PodTest = std::function<bool(const api::Pod&)>;
bool any_pod(const Roster& roster, const PodTest& test);     // on a seat
bool every_seat(const Roster& roster, const PodTest& test);  // has a pod, and it passes
bool every_seat(const Bench& bench, const PodTest& test);

// pending, starting, running, ... of one part, with a reference to each pod.
api::RoleStatus count(const Bench& bench);

// Every worker succeeded (every pod, when there are no workers).
bool work_done(const Roster& roster);

}  // namespace paddle::controllers
