// SPDX-License-Identifier: Apache-2.0
//
// Which ConfigMaps and Secrets a pod's volumes are made from, and in which version: enough to know
// that their files are to be written again. What is in the objects is kept nowhere. Pure.

#pragma once

#include <compare>
#include <functional>
#include <map>
#include <string>

#include "api/json/json.h"
#include "base/result.h"
#include "local/node/pod_spec.h"

namespace paddle::local {

// A ConfigMap or a Secret, of which only this is read.
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

// Of all that the pod's volumes are made from; an empty version: it is not there.
using ObjectVersions = std::map<MountedObject, std::string>;
ObjectVersions versions_of(const PodSpec& pod,
                           const std::function<std::string(const MountedObject&)>& version);

}  // namespace paddle::local
