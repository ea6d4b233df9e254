// SPDX-License-Identifier: Apache-2.0
//
// Decides which volume a claim is bound to, and the phases of both. Pure.
//
// A claim that names its volume (volumeName), or that a volume names (claimRef), gets only that
// one. Any other claim gets the smallest free volume of its class that is large enough and has the
// requested access modes and labels; it waits while there is none. Nothing is provisioned.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "api/core/meta.h"
#include "api/json/json.h"
#include "base/result.h"

namespace paddle::local {

struct ClaimReference {
  api::ObjectKey key{};
  std::string uid{};  // empty: reserved for any claim of that name
  bool operator==(const ClaimReference&) const = default;
};

struct Volume {
  api::Meta meta{};
  std::string storage_class{};
  std::string capacity{};  // as written: "10Gi"
  std::set<std::string> access_modes{};
  std::optional<ClaimReference> claim{};
  std::string phase{};
  bool operator==(const Volume&) const = default;
};
Result<Volume> decode_volume_object(const api::Json& object);

struct Claim {
  api::Meta meta{};
  std::string volume{};
  std::string storage_class{};
  std::string request{};
  std::set<std::string> access_modes{};
  std::map<std::string, std::string> match_labels{};
  std::string phase{};
  std::string capacity{};  // of its status
  bool operator==(const Claim&) const = default;
};
Result<Claim> decode_claim_object(const api::Json& object);

// Executed in this order: the volume first, so that two claims never believe that they own it.
struct ReserveVolume {
  std::string volume{};
  std::string resource_version{};
  ClaimReference claim{};
  bool operator==(const ReserveVolume&) const = default;
};
struct SetVolumePhase {
  std::string volume{};
  std::string uid{};
  std::string phase{};
  bool operator==(const SetVolumePhase&) const = default;
};
struct NameVolume {
  std::string volume{};
  bool operator==(const NameVolume&) const = default;
};
struct SetClaimStatus {
  std::string phase{};
  std::string capacity{};
  std::set<std::string> access_modes{};
  bool operator==(const SetClaimStatus&) const = default;
};
using BindAction = std::variant<ReserveVolume, SetVolumePhase, NameVolume, SetClaimStatus>;
using BindPlan = std::vector<BindAction>;

BindPlan desired_binding(const Claim& claim, const std::vector<Volume>& volumes);

// "" when the phase is already correct. `claim`: the claim in the volume's claimRef, if it exists.
std::string desired_phase(const Volume& volume, const Claim* claim);

}  // namespace paddle::local
