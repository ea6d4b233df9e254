// SPDX-License-Identifier: Apache-2.0
//
// Which sets an object that changed is the business of. Pure.

#pragma once

#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/paddle_job.h"
#include "api/sample_set.h"
#include "controllers/sample_set/world.h"
#include "kube/informer/store.h"

namespace paddle::controllers::sample_set {

// Names of indices.
inline constexpr const char* kBySet = "sample-set";
inline constexpr const char* kByName = "name";
inline constexpr const char* kBySecret = "secret";
inline constexpr const char* kByLabel = "cache-label";
inline constexpr const char* kByNode = "node";

std::vector<std::string> to_strings(const std::vector<api::ObjectKey>& keys);

// The set that a runtime's pod was made for, by its label.
std::vector<api::ObjectKey> set_of_pod(const api::Pod& pod);
std::vector<api::ObjectKey> set_of_job(const api::PaddleJob& job);
// The set that a volume was made for; nothing when that is another operator's affair.
std::vector<api::ObjectKey> set_of_volume(const VolumeSummary& volume, const std::string& this_ns);
// The sets of a namespace whose labels are on a node: its value says the name of a runtime's pod,
// and the hash in the label whether that is one of this namespace.
std::vector<api::ObjectKey> sets_on_node(const api::Meta& node, const std::string& this_ns);
std::vector<api::ObjectKey> sets_with_pods_on(const kube::Store<api::Pod>& pods,
                                              const std::string& node);
// "<namespace>/<name>" of each Secret that the spec names.
std::vector<std::string> secrets_of(const api::SampleSet& set);
// Whether the files of both end up together: one Secret is one volume.
bool share_volume_path(const api::SampleSet& one, const api::SampleSet& other);

}  // namespace paddle::controllers::sample_set
