// SPDX-License-Identifier: Apache-2.0
//
// The names of what belongs to a SampleSet. They are the contract of the public operator: change
// one and somebody's script breaks. Pure.

#pragma once

#include <map>
#include <string>

#include "api/core/meta.h"
#include "api/sample_set.h"

namespace paddle::engine {

// Cluster-wide and never used again: "<ns>-<set>-<first 8 of the uid>". Name of the
// PersistentVolume and of the set's directories on nodes.
std::string handle_of(const api::SampleSet& set);
// The same where it may be a label's value, which has at most 63 characters; else its beginning, a
// hash of it and the uid. For a driver that labels its pods with the volumeHandle.
std::string short_handle_of(const api::SampleSet& set);

std::string claim_name(const api::SampleSet& set);    // <set>
std::string runtime_name(const api::SampleSet& set);  // <set>-runtime: StatefulSet, and the Secret
std::string runtime_pod_name(const api::SampleSet& set, int partition);
std::string service_name(const api::SampleSet& set);  // <set>-runtime-service
// Secret with the user's credentials as the engine wants them, and the pod that prepares a volume.
std::string volume_secret_name(const api::SampleSet& set);  // <set>-volume
std::string preparation_name(const api::SampleSet& set);    // <set>-runtime-format

// "paddlepaddle.org/<engine>-<set>": "true" on objects, the runtime pod's name on its node. Two
// sets of one name in two namespaces share it; node_label() tells them apart.
std::string cache_label(const api::SampleSet& set, const std::string& engine);
std::string node_label(const api::SampleSet& set);  // "paddlepaddle.org/cache-<16 hex digits>"

// The engine that labels of a set's object or node (cache_label) name; empty when they name none.
std::string engine_of(const std::map<std::string, std::string>& labels, const api::SampleSet& set);

// paddlepaddle.org/sampleset-<set>. Older operators wrote it; nothing needs it any more.
std::string finalizer_of(const api::SampleSet& set);

// On everything made for a set: its name.
inline constexpr const char* kSetLabel = "batch.paddlepaddle.org/sampleset";
inline constexpr const char* kSetUidAnnotation = "batch.paddlepaddle.org/sampleset-uid";
// Keys of the Secret with the runtimes' tokens and certificates.
inline constexpr const char* kTokenKey = "token";
inline constexpr const char* kTokenBeforeKey = "token-before";
inline constexpr const char* kAuthorityKey = "ca.crt";
inline constexpr const char* kStorageClass = "paddle-operator";

api::OwnerReference owner_reference(const api::SampleSet& set);

// Made for this very set: controlled by it or, when nothing controls it (the set is gone, or the
// object has no namespace), marked with its uid.
bool belongs_to(const api::Meta& child, const api::SampleSet& set);

}  // namespace paddle::engine
