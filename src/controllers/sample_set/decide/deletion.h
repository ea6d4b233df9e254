// SPDX-License-Identifier: Apache-2.0
//
// The end of a SampleSet. No finalizer: a set goes when it is told to, also when no operator runs
// any more, and what was made for it follows.
//
//   objects in its namespace   owned by the set, and by each unfinished PaddleJob that uses it
//                              (keep_for_users): the cluster's collector removes what has no owner
//   its volume                 no namespace, so no such owner: it stays as the record of what is
//                              left, and is owned by the definition of SampleSets, with which it
//                              goes
//   labels of nodes            removed before the volume is
//
// An operator that runs, or comes back, finds volumes whose set is gone, takes each for a orphan of
// its set (orphan_of) and ends it in order (ending): nobody uses it -> node labels -> runtimes ->
// their pods are gone -> service, token, claim -> volume. The source is never touched. Pure.

#pragma once

#include "controllers/sample_set/plan.h"

namespace paddle::controllers::sample_set {

// Adds SetOwners for each child that is not owned by exactly the present users besides the set.
void keep_for_users(const api::SampleSet& set, const World& world, Plan& plan);

// On the set before it is deleted, or on its volume afterwards: "true" ends it although a PaddleJob
// uses it, whose reads then fail.
inline constexpr const char* kForceDelete = "batch.paddlepaddle.org/force-delete";
bool is_forced(const api::Meta& meta);

// The set that a volume was made for, as far as the volume tells: name, uid and engine.
api::SampleSet orphan_of(const VolumeSummary& volume, WallTime now);

// `world` is the orphan's.
Plan plan_deletion(const api::SampleSet& orphan, const World& world);

}  // namespace paddle::controllers::sample_set
