// SPDX-License-Identifier: Apache-2.0
//
// The options that decisions about SampleSets depend on. Values only.

#pragma once

#include <map>
#include <set>
#include <string>

#include "engine/manifests.h"

namespace paddle::controllers::sample_set {

struct Config {
  engine::ManifestBuilders engines{};
  engine::RuntimeOptions runtime{};
  std::map<std::string, std::string> images{};  // by engine, instead of runtime.image
  // CSI drivers whose volumes nodes mount although the cluster has no CSIDriver object for them.
  std::set<std::string> built_in_drivers{};
};

}  // namespace paddle::controllers::sample_set
