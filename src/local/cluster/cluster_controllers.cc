// SPDX-License-Identifier: Apache-2.0
#include "local/cluster/cluster_controllers.h"

#include "local/cluster/scheduler.h"
#include "local/cluster/stateful_set_controller.h"
#include "local/cluster/volume_binder.h"

namespace paddle::local {

using controllers::ControllerContext;

Result<> add_cluster_controllers(controllers::Manager& manager, const Clock& clock) {
  // Users wait for the result: a failed pass is retried within seconds.
  constexpr controllers::QueueLimits kLimits{.longest_pause = std::chrono::seconds{10}};
  CHECK_DONE(
      manager.add({.name = "binder", .limits = kLimits},
                  [&clock](const ControllerContext& s) { return make_scheduler(s, clock); }));
  CHECK_DONE(manager.add({.name = "statefulset", .limits = kLimits}, make_stateful_set_controller));
  return manager.add({.name = "volume-binder", .limits = kLimits}, make_volume_binder);
}

}  // namespace paddle::local
