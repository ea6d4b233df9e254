// SPDX-License-Identifier: Apache-2.0
//
// Resolves claims on this machine: the part of PersistentVolumes and claims that a node reads, and
// what to mount for a claim. Pure.

#pragma once

#include <string>
#include <variant>

#include "api/core/meta.h"
#include "api/json/json.h"
#include "base/result.h"

namespace paddle::local {

struct BoundVolume {
  api::Meta meta{};
  std::string driver{};  // of a CSI volume
  std::string handle{};
  std::string host_path{};
  std::string claim_uid{};  // of the claim it is bound to
  bool operator==(const BoundVolume&) const = default;
};
Result<BoundVolume> decode_bound_volume(const api::Json& object);

struct BoundClaim {
  api::Meta meta{};
  std::string volume{};
  bool bound = false;
  bool operator==(const BoundClaim&) const = default;
};
Result<BoundClaim> decode_bound_claim(const api::Json& object);

struct SampleMount {
  std::string handle{};
  std::string server{};  // the runtime that serves it, for messages
  bool operator==(const SampleMount&) const = default;
};
struct HostDirectory {
  std::string path{};
  bool operator==(const HostDirectory&) const = default;
};
using ClaimTarget = std::variant<SampleMount, HostDirectory>;

// Null arguments: the object does not exist. kNotFound: what the pod waits for; kInvalid: what this
// machine cannot mount.
Result<ClaimTarget> resolve_claim(const api::ObjectKey& key, const BoundClaim* claim,
                                  const BoundVolume* volume);

}  // namespace paddle::local
