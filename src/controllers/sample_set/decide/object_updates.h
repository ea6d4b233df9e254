// SPDX-License-Identifier: Apache-2.0
//
// Which of a SampleSet's objects are missing or out of date. Each function adds actions to a plan.
// Pure.

#pragma once

#include <set>

#include "api/sample_set.h"
#include "base/clock.h"
#include "controllers/sample_set/actions.h"
#include "controllers/sample_set/decide/engine_selection.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

// All missing objects at once, but for the volume, which needs the uid of its claim, and the Secret
// of the CSI driver, which the volume owns. The runtimes are created when their volume is prepared
// (volume_preparation.h) and the cluster has the driver that mounts it.
void create_missing(const api::SampleSet& set, const World& world, const EngineSelection& selection,
                    Plan& plan);

// A new claim gets its volume, one that was created again that of its predecessor.
void rebind_volume(const api::SampleSet& set, const World& world, Plan& plan);

// Annotations `juicefs*` of the set's claim would control JuiceFS's privileged driver at its next
// mount: they are removed at once.
void clean_claim(const api::SampleSet& set, const World& world, Plan& plan);

// The copies of the user's credentials follow the user's Secret; what others changed in them
// is restored.
void update_credentials(const World& world, const EngineSelection& selection, Plan& plan);

// Token and certificates are renewed in the second half of their lifetime; the previous ones
// are forgotten some minutes later.
void renew_token(const api::SampleSet& set, const World& world, WallTime now, Plan& plan);

void update_policy(const api::SampleSet& set, const World& world,
                   const engine::Manifests& manifests, Plan& plan);

// Replicas and template of the runtimes. Pods of a previous template are replaced one at a time,
// those that serve last, and only while no other pod is starting; a pod that cannot be scheduled
// delays no other. Before the first sync has ended there are no readers: all at once.
void update_runtimes(const api::SampleSet& set, const World& world,
                     const engine::Manifests& manifests, Plan& plan);

// The partitions whose pods were created from the current template. The source is a part of the
// template: only these runtimes receive the first sync.
std::set<int> up_to_date_runtimes(const api::SampleSet& set, const World& world,
                                  const engine::Manifests& manifests);

}  // namespace paddle::controllers::sample_set
