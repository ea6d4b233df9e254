// SPDX-License-Identifier: Apache-2.0
//
// The ConfigMaps and Secrets of a pod's volumes and their versions: enough to detect that their
// files must be rewritten. The contents are not kept. Pure.

#pragma once

#include <compare>
#include <functional>
#include <map>
#include <string>

#include "api/json/json.h"
#include "base/result.h"
#include "local/node/pod_spec.h"

namespace paddle::local {

// A ConfigMap or a Secret, reduced to its version.
struct ObjectVersion {
  std::string version{};  // resourceVersion
  bool operator==(const ObjectVersion&) const = default;
};
Result<ObjectVersion> decode_object_version(const api::Json& object);

struct MountedObject {
  bool secret = false;
  std::string name{};
  auto operator<=>(const MountedObject&) const = default;
};

bool mounts(const PodSpec& pod, const MountedObject& object);

// The versions of all objects of a pod's volumes; empty: the object does not exist.
using ObjectVersions = std::map<MountedObject, std::string>;
ObjectVersions versions_of(const PodSpec& pod,
                           const std::function<std::string(const MountedObject&)>& version);

}  // namespace paddle::local
