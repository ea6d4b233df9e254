// SPDX-License-Identifier: Apache-2.0
#include "local/cluster/volume_plan.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/core/quantity.h"
#include "api/json/look.h"
#include "api/phases.h"

namespace paddle::local {
namespace {

using api::Json;

std::set<std::string> texts(const Json& list) {
  std::set<std::string> out;
  if (!list.is_array()) return out;
  for (const Json& item : list) {
    if (item.is_string()) out.insert(item.get<std::string>());
  }
  return out;
}

bool names(const Volume& volume, const Claim& claim) {
  return volume.claim && volume.claim->key == claim.meta.key &&
         (volume.claim->uid.empty() || volume.claim->uid == claim.meta.uid);
}

// "0" for what is no quantity.
api::Quantity size_of(const std::string& text) {
  const auto size = api::Quantity::parse(text);
  return size ? *size : api::Quantity{};
}

bool suits(const Volume& volume, const Claim& claim) {
  if (volume.claim || volume.meta.deleting()) return false;
  if (volume.storage_class != claim.storage_class) return false;
  if (!std::ranges::includes(volume.access_modes, claim.access_modes)) return false;
  for (const auto& [key, value] : claim.match_labels) {
    const auto found = volume.meta.labels.find(key);
    if (found == volume.meta.labels.end() || found->second != value) return false;
  }
  return size_of(volume.capacity) >= size_of(claim.request);
}

const Volume* choose(const Claim& claim, const std::vector<Volume>& volumes) {
  const Volume* best = nullptr;
  for (const Volume& volume : volumes) {
    if (!claim.volume.empty()) {
      const bool free_or_ours = !volume.claim || names(volume, claim);
      if (volume.meta.key.name == claim.volume) return free_or_ours ? &volume : nullptr;
      continue;
    }
    if (names(volume, claim)) return &volume;
    if (!suits(volume, claim)) continue;
    const auto rank = [](const Volume& v) {
      return std::pair(size_of(v.capacity), v.meta.key.name);
    };
    if (!best || rank(volume) < rank(*best)) best = &volume;
  }
  return best;
}

}  // namespace

Result<Volume> decode_volume_object(const Json& object) {
  Volume volume;
  TRY(volume.meta, api::decode_meta(object));
  volume.storage_class = api::look_text(object, "/spec/storageClassName");
  volume.capacity = api::look_text(object, "/spec/capacity/storage");
  volume.access_modes = texts(api::look(object, "/spec/accessModes"));
  if (api::look(object, "/spec/claimRef").is_object()) {
    volume.claim = ClaimReference{{api::look_text(object, "/spec/claimRef/namespace"),
                                   api::look_text(object, "/spec/claimRef/name")},
                                  api::look_text(object, "/spec/claimRef/uid")};
  }
  volume.phase = api::look_text(object, "/status/phase");
  return volume;
}

Result<Claim> decode_claim_object(const Json& object) {
  Claim claim;
  TRY(claim.meta, api::decode_meta(object));
  claim.volume = api::look_text(object, "/spec/volumeName");
  claim.storage_class = api::look_text(object, "/spec/storageClassName");
  claim.request = api::look_text(object, "/spec/resources/requests/storage");
  claim.access_modes = texts(api::look(object, "/spec/accessModes"));
  if (const Json& labels = api::look(object, "/spec/selector/matchLabels"); labels.is_object()) {
    for (const auto& [key, value] : labels.items()) {
      if (value.is_string()) claim.match_labels[key] = value.get<std::string>();
    }
  }
  claim.phase = api::look_text(object, "/status/phase");
  claim.capacity = api::look_text(object, "/status/capacity/storage");
  return claim;
}

BindPlan desired_binding(const Claim& claim, const std::vector<Volume>& volumes) {
  BindPlan plan;
  if (claim.meta.deleting()) return plan;
  const Volume* volume = choose(claim, volumes);
  if (!volume) {
    // Its volume is gone, and so is the data. No other volume replaces it.
    const bool lost = claim.phase == api::claim_phase::kBound;
    if (lost) plan.push_back(SetClaimStatus{.phase = api::claim_phase::kLost});
    return plan;
  }
  const ClaimReference wanted{claim.meta.key, claim.meta.uid};
  const std::string& name = volume->meta.key.name;
  if (volume->claim != wanted) {
    plan.push_back(ReserveVolume{name, volume->meta.resource_version, wanted});
  }
  if (volume->phase != api::volume_phase::kBound) {
    plan.push_back(SetVolumePhase{name, volume->meta.uid, api::volume_phase::kBound});
  }
  if (claim.volume != name) plan.push_back(NameVolume{name});
  if (claim.phase != api::claim_phase::kBound || claim.capacity != volume->capacity) {
    plan.push_back(
        SetClaimStatus{api::claim_phase::kBound, volume->capacity, volume->access_modes});
  }
  return plan;
}

std::string desired_phase(const Volume& volume, const Claim* claim) {
  std::string phase = api::volume_phase::kAvailable;
  if (volume.claim && !volume.claim->uid.empty()) {
    const bool held = claim && claim->meta.uid == volume.claim->uid;
    phase = held ? api::volume_phase::kBound : api::volume_phase::kReleased;
  }
  return phase == volume.phase ? std::string() : phase;
}

}  // namespace paddle::local
