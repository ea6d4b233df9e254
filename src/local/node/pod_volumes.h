// SPDX-License-Identifier: Apache-2.0
//
// Sets up a pod's volumes beneath the pod's directory and returns their paths. Files of ConfigMaps,
// Secrets and the downward API are updated with their objects, all files of a volume at once
// (atomic_writer.h). Secrets are readable by root only, in a pod with another user by its users.
// The pod's fsGroup owns these volumes and its emptyDirs; hostPaths and claims keep their owners.

#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "local/node/pod_env.h"
#include "local/node/pod_spec.h"

namespace paddle::local {

// Locates volumes that are not a directory of the pod. kNotFound: the object does not exist (yet).
// kUnavailable: it exists but is not ready.
struct VolumeLocator {
  std::function<Result<std::string>(const api::ObjectKey& claim)> claim{};
  std::function<Result<std::string>(const RuntimeVolume& volume)> runtime{};
  std::vector<std::string> hidden{};  // PodRunnerContext::hidden
};

// kInvalid for a path of the machine at or beneath one that pods must not see.
Result<> expect_visible(const std::string& path, const std::vector<std::string>& hidden);

// The directory in memory that the containers of a pod have as /dev/shm.
Result<std::string> set_up_shared_memory(const PodSpec& pod);

// Returns volume name -> path. kNotFound or kUnavailable when something is not ready yet.
Result<std::map<std::string, std::string>> set_up_volumes(const std::string& pod_directory,
                                                          const PodFacts& facts,
                                                          const ObjectData& objects,
                                                          const VolumeLocator& locator);

// Rewrites the downward API's files after a change of labels or annotations.
Result<> refresh_downward(const std::string& pod_directory, const PodFacts& facts);

// Rewrites the files of ConfigMaps and Secrets after a change of an object. If the object is gone,
// its files stay and kNotFound is returned.
Result<> refresh_objects(const std::string& pod_directory, const PodSpec& pod,
                         const ObjectData& objects);

}  // namespace paddle::local
