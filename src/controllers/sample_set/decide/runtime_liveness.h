// SPDX-License-Identifier: Apache-2.0
//
// The runtimes of a SampleSet by partition: their pods, what they reported, which nodes have the
// set's labels, and when a runtime that does not answer is replaced. The time limits are in
// timing.h. Pure.
//
//   silent   no answer for kSilentAfter: its node loses the set's labels, so that no worker is sent
//            there for data, and the set is Degraded
//   lost     no answer for kLostAfter, and its node is not Ready either: its pod is deleted without
//            waiting for the kubelet, and its successor starts on another node
//
// An operator that no runtime answers has probably lost its own network while the nodes stay Ready:
// nothing is deleted then, nor when no node of the cluster is Ready.

#pragma once

#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/sample_set.h"
#include "base/clock.h"
#include "controllers/sample_set/actions.h"
#include "controllers/sample_set/config.h"
#include "controllers/sample_set/world.h"

namespace paddle::controllers::sample_set {

// Null when the runtime of this partition does not run.
const RuntimeReport* report_of(const World& world, int partition);
bool is_silent(const RuntimeReport* report);

// The runtime pods of this set, one for each partition; null where there is none, or it is being
// deleted.
std::vector<const api::Pod*> runtime_pods(const api::SampleSet& set, const World& world);

// A runtime that can be called: its pod is one of the set's StatefulSet, runs and has an address. A
// stranger's pod with the name and the label of a runtime is asked for nothing.
struct RunningRuntime {
  int partition = 0;
  std::string address{};
  std::string uid{};  // of the pod
};
std::vector<RunningRuntime> running_runtimes(const api::SampleSet& set, const World& world);

// Whether the StatefulSet has had time to create its pods, and one is missing.
bool runtimes_missing(const api::SampleSet& set, const World& world, WallTime now);

// How often the runtimes of a set with this status are polled.
std::chrono::nanoseconds poll_interval(const api::SampleSetStatus& status,
                                       const PollIntervals& intervals);

// For pods that are not polled: the node is not Ready for kLostAfter, or the pod's deletion is
// overdue there.
bool is_lost(const api::Pod& pod, const World& world, WallTime now);

void replace_lost_runtimes(const api::SampleSet& set, const World& world, WallTime now, Plan& plan);

// The node of each partition has the set's labels, and no other node does. The label that sets of
// one name in several namespaces share is that of the oldest: a namesake takes nothing from it. A
// runtime that is not silent yet keeps its labels: an operator that has just started does not know
// when it answered last.
void label_nodes(const api::SampleSet& set, const World& world, const std::string& engine,
                 Plan& plan);

}  // namespace paddle::controllers::sample_set
