// SPDX-License-Identifier: Apache-2.0
//
// Puts a pod's volumes on this machine's disk, beneath the pod's own directory, and says where each
// one is. Files of ConfigMaps, Secrets and the downward API follow what they are made from, all
// files of a volume at once (file_set.h); Secrets are readable by the owner only.

#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/result.h"
#include "local/node/pod_env.h"
#include "local/node/pod_spec.h"

namespace paddle::local {

// Where volumes that are more than a directory of the pod are on this machine. kNotFound: there is
// no such thing (yet). kUnavailable: it is known and on its way.
struct VolumeLocator {
  std::function<Result<std::string>(const api::ObjectKey& claim)> claim{};
  std::function<Result<std::string>(const RuntimeVolume& volume)> runtime{};
};

// Volume name -> path on this machine. kNotFound or kUnavailable when something is not there yet.
Result<std::map<std::string, std::string>> set_up_volumes(const std::string& pod_directory,
                                                          const PodFacts& facts,
                                                          const ObjectData& objects,
                                                          const VolumeLocator& locator);

// Writes the downward API's files again, after labels or annotations changed.
Result<> refresh_downward(const std::string& pod_directory, const PodFacts& facts);

// Writes the files of ConfigMaps and Secrets again, after an object changed. Of an object that is
// gone the last files stay; kNotFound says so.
Result<> refresh_objects(const std::string& pod_directory, const PodSpec& pod,
                         const ObjectData& objects);

}  // namespace paddle::local
