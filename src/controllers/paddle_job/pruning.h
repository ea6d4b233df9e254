// SPDX-License-Identifier: Apache-2.0
//
// What has to go: pods of earlier epochs and without a seat, pods that their node gave up, Services
// of no pod. Pure.

#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controllers/paddle_job/actions.h"
#include "controllers/paddle_job/progress.h"

namespace paddle::controllers {

struct Pruned {
  Wave wave{};
  std::set<std::string> ask_about{};  // nodes of pods that should be gone by now
  std::optional<WallTime> again_at{};
};
Pruned prune(const api::PaddleJob& job, const Sight& sight, WallTime now, const Setting& setting);

Delete delete_pod(const api::Pod& pod, bool at_once = false);
// Nothing when there is none, or it is somebody else's.
std::optional<Delete> delete_pod_group(const api::PaddleJob& job, const World& world);
std::vector<const api::Pod*> all_seated(const Roster& roster);

}  // namespace paddle::controllers
