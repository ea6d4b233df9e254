// SPDX-License-Identifier: Apache-2.0
//
// The runtimes of a set by partition: their pods, what they answered, and when one that nobody
// hears of is given up. Pure.
//
//   kSilentAfter   after this long without an answer a runtime counts as away: its node loses its
//             labels, so that no worker is sent there for data, and the set is Degraded
//   kLostAfter   after this long, and only when its node is not Ready either, its pod is removed
//             without waiting for the kubelet: its successor goes where there is room
//
// An operator that hears of nobody has lost its own network as likely as not, and the nodes stay
// Ready: nothing is removed. Nor is anything when no node of the cluster is Ready.

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "api/sample_set.h"
#include "base/clock.h"
#include "controllers/sample_set/actions.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

inline constexpr std::chrono::seconds kSilentAfter{10};
inline constexpr std::chrono::seconds kLostAfter{25};

bool is_bound(const World& world);

const RuntimeReport* report_of(const World& world, int partition);
bool is_silent(const RuntimeReport* answer);

// Runtime pods of this set by partition, in order; those on their way out are left out.
std::vector<const api::Pod*> runtime_pods(const api::SampleSet& set, const World& world);

// Of a pod that is not asked: its node has not been Ready for kLostAfter, or nobody confirms its
// end.
bool is_lost(const api::Pod& pod, const World& world, WallTime now);

// Removes the pods of nodes that are lost.
void replace_lost_runtimes(const api::SampleSet& set, const World& world, WallTime now, Plan& plan);

// Each partition's node carries the set's labels, and no other node does. The label that the set
// would share with a namesake goes while there is one. A runtime that hesitates keeps what it has:
// an operator that has just begun does not know yet for how long it has been silent.
void label_nodes(const api::SampleSet& set, const World& world, const std::string& engine,
                 Plan& plan);

}  // namespace paddle::controllers::sample_set
