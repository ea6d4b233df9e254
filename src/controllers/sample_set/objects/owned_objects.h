// SPDX-License-Identifier: Apache-2.0
//
// The objects of a SampleSet as they are created: an engine's manifests (engine/manifests.h) with
// what the operator adds to them. An annotation with a hash of what an object was made from shows
// later whether it is up to date; the API server's defaults do not matter. Pure.

#pragma once

#include <string>

#include "api/core/meta.h"
#include "api/json/json.h"
#include "api/sample_set.h"
#include "controllers/sample_set/world.h"
#include "engine/manifests.h"

namespace paddle::controllers::sample_set {

// On the StatefulSet and on its pods: hash of the template that they were made from.
inline constexpr const char* kTemplateHash = "batch.paddlepaddle.org/template";
// On the NetworkPolicy: hash of its spec.
inline constexpr const char* kSpecHash = "batch.paddlepaddle.org/made-from";
// On the copy of the credentials: "<uid>/<resourceVersion>" of the Secret that it is a copy of.
inline constexpr const char* kCopiedFrom = "batch.paddlepaddle.org/copied-from";
// On the claim: uid of the volume that was created for it.
inline constexpr const char* kVolumeUid = "batch.paddlepaddle.org/volume-uid";
// On the Secret with token and certificates: when to renew them.
inline constexpr const char* kRenewAfter = "batch.paddlepaddle.org/renew-after";
// On the same Secret after a renewal: when to take the previous token and authority out of it.
inline constexpr const char* kForgetAfter = "batch.paddlepaddle.org/forget-previous-after";

// PV, PVC, Service, StatefulSet, Secret ...: as reasons of events contain it.
std::string kind_name(OwnedKind kind);

// Without data: the executor generates it.
api::Json token_secret(const api::SampleSet& set, const std::string& engine);
// `version`: of the user's Secret.
api::Json credentials_copy(const api::Json& manifest, const std::string& version);
// The copy for the CSI driver: the volume owns it, as it has no namespace either.
api::Json driver_credentials(const api::Json& manifest, const std::string& version,
                             const api::Meta& volume);
api::OwnerReference volume_owner(const api::Meta& volume);
// Whether a copy has exactly this `data`.
bool has_data(const engine::Credentials& values, const api::Json& data);
// `data` and `stringData` of a Secret, as `data`.
api::Json secret_data(const api::Json& secret);
// With the uid of the claim: no other claim of its name gets the volume, and with it a way to give
// the CSI driver annotations that control it.
api::Opaque volume_for_claim(const api::Opaque& manifest, const api::Meta& claim);
api::Json policy_with_hash(const api::Json& manifest);

// The StatefulSet does not replace its pods by itself: object_updates.h does, one at a time.
api::Json runtimes_with_hash(const api::Json& manifest);
std::string template_hash(const api::Json& stateful_set);

// Operations of a JSON patch (RFC 6902). Each replaces what is at the path as a whole.
api::Json put_value(const std::string& path, const api::Json& value);
// Also when the object has no annotations yet.
api::Json put_annotation(const api::Meta& meta, const std::string& name, const std::string& value);

}  // namespace paddle::controllers::sample_set
