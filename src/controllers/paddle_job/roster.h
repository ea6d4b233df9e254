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
#include "controllers/paddle_job/parts.h"
#include "controllers/paddle_job/successes.h"
#include "controllers/paddle_job/world.h"

namespace paddle::controllers {

struct Bench {
  Part part{};
  std::vector<const api::Pod*> seats{};  // by index; null: no pod
  std::vector<bool> done{};              // by index: its pod has succeeded in this epoch
};

struct Roster {
  std::vector<Bench> benches{};            // in the order of parts_of()
  std::vector<const api::Pod*> surplus{};  // of this epoch, without a seat
  std::vector<const api::Pod*> old{};      // of earlier epochs
  std::set<std::string> names_in_use{};    // of all of them
  bool from_the_future = false;            // a pod is of a later epoch: our view of the job is old
  bool only_we_know = false;               // of a success: no pod shows it, the status does not yet
};
// `noticed`: what was to be remembered when the job was last looked at, stored or not.
Roster seat(const api::PaddleJob& job, const std::vector<PodPtr>& pods,
            const Successes& noticed = {});

int seats(const Roster& roster);  // in all
// Of all parts of this kind, in the order of ranks; null: no pod.
std::vector<const api::Pod*> seats_of(const Roster& roster, RoleKind kind);
int empty_seats(const Roster& roster);  // that wait for a pod
// Seats that are not done and whose pod is not there, is on its way out, or has no address yet.
int without_address(const Roster& roster);
// Seats that are done and have no pod any more.
int left(const Bench& bench);
int left(const Roster& roster);
bool any_done(const Roster& roster);

using PodTest = std::function<bool(const api::Pod&)>;
bool any_pod(const Roster& roster, const PodTest& test);     // on a seat
bool every_seat(const Roster& roster, const PodTest& test);  // is done, or has a pod that passes
bool every_seat(const Bench& bench, const PodTest& test);

// pending, starting, running, ... of one part, with a reference to each pod that is there.
api::RoleStatus count(const Bench& bench);

// Every worker succeeded (every pod, when there are no workers).
bool work_done(const Roster& roster);

}  // namespace paddle::controllers
