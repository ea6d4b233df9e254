// SPDX-License-Identifier: Apache-2.0
//
// Maps a changed object to the SampleSets to enqueue.

#pragma once

#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/sample_set.h"
#include "controllers/sample_set/observe/projections.h"
#include "controllers/sample_set/world.h"
#include "kube/informer/store.h"

namespace paddle::controllers::sample_set {

// Names of informer indices.
inline constexpr const char* kBySet = "sample-set";
inline constexpr const char* kByName = "name";
inline constexpr const char* kBySecret = "secret";
inline constexpr const char* kByNamespace = "namespace";
inline constexpr const char* kByLabel = "cache-label";
inline constexpr const char* kByNode = "node";

std::vector<std::string> to_strings(const std::vector<api::ObjectKey>& keys);

// The set that a runtime's pod was created for, from its label.
std::vector<api::ObjectKey> set_of_pod(const api::Pod& pod);
// The set that an unfinished job reads.
std::vector<api::ObjectKey> set_of_job(const JobSummary& job);
// The set that a volume was created for; none when it is in a namespace that this operator does not
// watch. `watched_ns` empty: all namespaces.
std::vector<api::ObjectKey> set_of_volume(const VolumeSummary& volume,
                                          const std::string& watched_ns);
// The sets of this namespace whose labels a node has: the value is the name of a runtime's pod, and
// the hash in the label shows whether the set is of this namespace. None for all namespaces.
std::vector<api::ObjectKey> sets_on_node(const api::Meta& node, const std::string& watched_ns);
std::vector<api::ObjectKey> sets_with_pods_on(const kube::Store<api::Pod>& pods,
                                              const std::string& node);
// "<namespace>/<name>" of each Secret that the spec names.
std::vector<std::string> secrets_of(const api::SampleSet& set);
// Both sync into the same directory of the same volume; sets with the same Secret share a volume.
bool share_volume_path(const api::SampleSet& one, const api::SampleSet& other);
// Whether `one` was created before `other`. A set that no longer exists (its time is not known) is
// the younger one.
bool is_older(const api::Meta& one, const api::Meta& other);

}  // namespace paddle::controllers::sample_set
