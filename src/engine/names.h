// SPDX-License-Identifier: Apache-2.0
//
// The names of the objects, labels and annotations of a SampleSet. They are those of the public
// operator: users' scripts depend on them. Pure.

#pragma once

#include <map>
#include <string>

#include "api/core/meta.h"
#include "api/sample_set.h"

namespace paddle::engine {

// Unique in the cluster and never reused: "<ns>-<set>-<first 8 of the uid>". Name of the
// PersistentVolume and of the set's directories on nodes.
std::string handle_of(const api::SampleSet& set);
// The same, shortened to the 63 characters of a label's value: its beginning, a hash and the uid.
// For a driver that labels its pods with the volumeHandle.
std::string short_handle_of(const api::SampleSet& set);

std::string claim_name(const api::SampleSet& set);    // <set>
std::string runtime_name(const api::SampleSet& set);  // <set>-runtime: StatefulSet, and the Secret
std::string runtime_pod_name(const api::SampleSet& set, int partition);
std::string service_name(const api::SampleSet& set);  // <set>-runtime-service
// The Secret with the user's credentials for the engine, and the pod that prepares a volume.
std::string volume_secret_name(const api::SampleSet& set);  // <set>-volume
// The Secret of the CSI driver, in a namespace of the Secrets of all sets: as handle_of().
std::string driver_secret_name(const api::SampleSet& set);
std::string preparation_name(const api::SampleSet& set);  // <set>-runtime-format

// "paddlepaddle.org/<engine>-<set>": "true" on objects, the runtime pod's name on its node. Sets of
// the same name in two namespaces share it, and on nodes it is the older set's; node_label() is
// different.
std::string cache_label(const api::SampleSet& set, const std::string& engine);
std::string node_label(const api::SampleSet& set);  // "paddlepaddle.org/cache-<16 hex digits>"

// The engine in the labels of a set's object or node (cache_label); empty: none.
std::string engine_of(const std::map<std::string, std::string>& labels, const api::SampleSet& set);

// paddlepaddle.org/sampleset-<set>. Written by older operators, and no longer needed.
std::string finalizer_of(const api::SampleSet& set);

// On every object that is made for a set: the set's name.
inline constexpr const char* kSetLabel = "batch.paddlepaddle.org/sampleset";
inline constexpr const char* kSetUidAnnotation = "batch.paddlepaddle.org/sampleset-uid";
// Keys of the Secret with the runtimes' tokens and certificates.
inline constexpr const char* kTokenKey = "token";
inline constexpr const char* kTokenBeforeKey = "token-before";
inline constexpr const char* kAuthorityKey = "ca.crt";
inline constexpr const char* kStorageClass = "paddle-operator";

api::OwnerReference owner_reference(const api::SampleSet& set);

// Whether the object was made for this set and not for another one of its name: the set is its
// controller or, when it has none (the set is gone, or the object has no namespace), its annotation
// has the set's uid.
bool belongs_to(const api::Meta& child, const api::SampleSet& set);

}  // namespace paddle::engine
