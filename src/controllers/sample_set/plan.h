// SPDX-License-Identifier: Apache-2.0
//
// What to do next for one SampleSet, decided from values alone.
//
//   desired(set, world, config, now) -> Plan
//
// Properties the tests hold it to:
//   - a converged world yields no action;
//   - ids of jobs are stored in the status before any runtime hears of them;
//   - no runtime is given the same automatic warm-up again once it has ended;
//   - nothing that does not carry this set's uid is changed or deleted;
//   - nothing holds a set up that is deleted: what is left of it ends as deletion.h says;
//   - a set that is deleted keeps its volume while a PaddleJob uses it.

#pragma once

#include <map>
#include <set>
#include <string>

#include "api/sample_set.h"
#include "base/clock.h"
#include "controllers/sample_set/actions.h"
#include "controllers/sample_set/world.h"
#include "engine/manifests.h"

namespace paddle::controllers::sample_set {

struct Config {
  engine::ManifestBuilders engines{};
  engine::RuntimeOptions runtime{};
  std::map<std::string, std::string> images{};  // of engines that want another than runtime.image
  // CSI drivers whose volumes nodes mount without a CSIDriver that says so.
  std::set<std::string> drivers_of_nodes{};
};

Plan desired(const api::SampleSet& set, const World& world, const Config& config, WallTime now);

}  // namespace paddle::controllers::sample_set
