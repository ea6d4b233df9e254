// SPDX-License-Identifier: Apache-2.0
//
// The deletion of a SampleSet. There is no finalizer: a set goes at once, also when no operator
// runs, and its objects follow (docs/design/0008). Pure.
//
//   objects in its namespace   owned by the set and by each unfinished PaddleJob that uses it
//                              (keep_for_users): the garbage collector deletes what has no owner
//   its volume                 has no namespace and therefore no such owner: it stays as the record
//                              of what is left. Its owner is the CRD of SampleSets
//   labels of nodes            removed before the volume
//
// The operator takes a volume whose set is gone for an orphan (orphan_of) and deletes in this order
// (plan_deletion): wait for users -> node labels -> runtimes -> wait for their pods -> service,
// token, claim -> volume. The source of the samples is never touched.

#pragma once

#include "api/sample_set.h"
#include "base/clock.h"
#include "controllers/sample_set/actions.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

// Adds SetOwners for each object whose owners are not exactly the set, its current users and owners
// that others have added.
void keep_for_users(const api::SampleSet& set, const World& world, Plan& plan);

// On the set before it is deleted, or on its volume afterwards: "true" deletes it although a
// PaddleJob uses it, whose reads then fail.
inline constexpr const char* kForceDelete = "batch.paddlepaddle.org/force-delete";
bool is_forced(const api::Meta& meta);

// The deleted set that a volume was created for, as far as the volume shows: name, uid and engine.
api::SampleSet orphan_of(const VolumeSummary& volume, WallTime now);

// `world` is that of the orphan.
Plan plan_deletion(const api::SampleSet& orphan, const World& world);

}  // namespace paddle::controllers::sample_set
