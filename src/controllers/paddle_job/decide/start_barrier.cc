// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/start_barrier.h"

#include <nlohmann/json.hpp>

#include "controllers/paddle_job/decide/pod_facts.h"
#include "controllers/paddle_job/decide/release_retry.h"
#include "controllers/paddle_job/objects/coordinator.h"
#include "controllers/paddle_job/objects/peer_config_map.h"
#include "controllers/paddle_job/spec/elastic.h"
#include "controllers/plan/plan.h"

namespace paddle::controllers::paddle_job {
namespace {

Wave publish(const api::PaddleJob& job, const PlanContext& context) {
  const auto& there = context.world.peer_config;
  if (there && epoch_of(there->meta) >= job.status.epoch) return {};
  api::Json map = peer_config_map(job, peer_data(job, addresses(job, context.slots)));
  if (!there) return {Create{OwnedKind::kConfigMap, job.meta.key, std::move(map)}};
  map["metadata"]["resourceVersion"] = there->meta.resource_version;
  return {Replace{job.meta.key, std::move(map)}};
}

Wave release_group(const api::PaddleJob& job, const GroupSlots& group, WallTime now,
                   std::optional<WallTime>& again_at) {
  Wave wave;
  for (const api::Pod* pod : group.pods) {
    if (!pod || !waits_for_release(*pod)) continue;
    const std::string value = release_value(job, pod->ip);
    if (annotation(pod->meta, kReleaseAnnotation) != value) {
      wave.emplace_back(ReleasePod{pod->meta.key, pod->meta.uid, value, first_release_stamp(now)});
      continue;
    }
    if (!coordinating(*pod)) continue;
    const std::string stamp = annotation(pod->meta, kReleasedAtAnnotation);
    if (const WallTime due = release_again_at(stamp, now); due > now) {
      earliest(again_at, std::optional(due));
    } else {
      wave.emplace_back(
          ReleasePod{pod->meta.key, pod->meta.uid, value, next_release_stamp(stamp, now)});
    }
  }
  return wave;
}

// Whom nobody else has to wait for goes together. Tasks that are not to start in order go at once,
// but for servers: who calls them before they listen may give up.
bool may_follow(const api::PaddleJob& job, const ReplicaSlots& slots, const GroupSlots& group) {
  const bool in_order = job.spec.tasks.empty() || job.spec.start_in_order.value_or(0) == 1;
  for (const GroupSlots& other : slots.groups) {
    if (&other == &group) {
      if (in_order) return true;
      continue;
    }
    const bool first =
        in_order || (other.spec.kind == RoleKind::kPs && group.spec.kind != RoleKind::kPs);
    if (first && !every_slot(other, has_started)) return false;
  }
  return true;
}

}  // namespace

BarrierActions release(const api::PaddleJob& job, const PlanContext& context, WallTime now,
                       const Config& config) {
  if (is_elastic(job.spec, config.etcd)) return {};
  // A partial list of peers would hang the trainers: nothing until every pod can be reached.
  const ReplicaSlots& slots = context.slots;
  if (slot_count(slots) == 0 || without_address(slots) > 0) return {};
  if (!addresses_known(job, slots, context.world)) return {};
  // Nor while anybody of an earlier run is left, who may still write a checkpoint.
  if (!slots.old.empty()) return {};
  if (context.world.peer_config && epoch_of(context.world.peer_config->meta) > job.status.epoch)
    return {};

  // Nor with a list that names another address, while it is asked who is to blame for a failure.
  if (is_published(job, context.world) && any_pod(slots, waits_for_release) &&
      address_changed(job, slots, context.world)) {
    return {};
  }

  BarrierActions released{.waves = {publish(job, context)}};
  for (const GroupSlots& group : slots.groups) {
    if (!may_follow(job, slots, group)) continue;
    released.waves.push_back(release_group(job, group, now, released.again_at));
  }
  return released;
}

}  // namespace paddle::controllers::paddle_job
