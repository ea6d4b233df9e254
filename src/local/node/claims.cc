// SPDX-License-Identifier: Apache-2.0
#include "local/node/claims.h"

#include <nlohmann/json.hpp>

#include "api/json/look.h"
#include "api/phases.h"
#include "engine/samplefs/volumes.h"

namespace paddle::local {
using api::Json;

Result<BoundVolume> decode_bound_volume(const Json& object) {
  BoundVolume volume;
  TRY(volume.meta, api::decode_meta(object));
  volume.driver = api::look_text(object, "/spec/csi/driver");
  volume.handle = api::look_text(object, "/spec/csi/volumeHandle");
  volume.host_path = api::look_text(object, "/spec/hostPath/path");
  volume.claim_uid = api::look_text(object, "/spec/claimRef/uid");
  return volume;
}

Result<BoundClaim> decode_bound_claim(const Json& object) {
  BoundClaim claim;
  TRY(claim.meta, api::decode_meta(object));
  claim.volume = api::look_text(object, "/spec/volumeName");
  claim.bound = api::look_text(object, "/status/phase") == api::claim_phase::kBound;
  return claim;
}

Result<ClaimTarget> resolve_claim(const api::ObjectKey& key, const BoundClaim* claim,
                                  const BoundVolume* volume) {
  if (!claim) {
    return Error{Code::kNotFound, "persistentvolumeclaim \"" + key.name + "\" not found"};
  }
  if (!claim->bound || !volume) {
    return Error{Code::kNotFound, "waiting for the claim " + key.name + " to be bound to a volume"};
  }
  if (volume->claim_uid != claim->meta.uid) {
    return Error{Code::kNotFound, "waiting for the claim " + key.name + ": the volume " +
                                      volume->meta.key.name + " belongs to another claim"};
  }
  if (volume->driver == engine::samplefs::kDriver) {
    if (volume->handle.empty() || volume->handle.front() == '.' ||
        volume->handle.find('/') != std::string::npos) {
      return Error{Code::kInvalid, "the volume " + volume->meta.key.name +
                                       " has a volumeHandle that is not a plain name"};
    }
    return ClaimTarget{SampleMount{volume->handle, key.name + "-runtime"}};
  }
  if (volume->host_path.starts_with('/')) return ClaimTarget{HostDirectory{volume->host_path}};
  return Error{Code::kInvalid,
               "the volume " + volume->meta.key.name + " is of " +
                   (volume->driver.empty() ? std::string("a kind")
                                           : "the CSI driver '" + volume->driver + "'") +
                   ", which one machine cannot mount; use a SampleSet or a hostPath volume"};
}

}  // namespace paddle::local
