// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/release.h"

#include <nlohmann/json.hpp>

#include "controllers/paddle_job/coordinator.h"
#include "controllers/paddle_job/elastic.h"
#include "controllers/paddle_job/pod_facts.h"
#include "controllers/paddle_job/release_stamp.h"
#include "controllers/paddle_job/rendezvous.h"
#include "controllers/paddle_job/soonest.h"

namespace paddle::controllers {
namespace {

Wave publish(const api::PaddleJob& job, const Sight& sight) {
  const auto& there = sight.world.rendezvous;
  if (there && epoch_of(there->meta) >= job.status.epoch) return {};
  api::Json map = rendezvous_map(job, rendezvous_data(job, addresses(job, sight.roster)));
  if (!there) return {Create{Child::kConfigMap, job.meta.key, std::move(map)}};
  map["metadata"]["resourceVersion"] = there->meta.resource_version;
  return {Replace{job.meta.key, std::move(map)}};
}

Wave release_bench(const api::PaddleJob& job, const Bench& bench, WallTime now,
                   std::optional<WallTime>& again_at) {
  Wave wave;
  for (const api::Pod* pod : bench.seats) {
    if (!pod || !waits_for_release(*pod)) continue;
    const std::string value = release_value(job, pod->ip);
    if (annotation(pod->meta, kReleaseAnnotation) != value) {
      wave.emplace_back(Release{pod->meta.key, pod->meta.uid, value, first_stamp(now)});
      continue;
    }
    if (!coordinating(*pod)) continue;
    const std::string stamp = annotation(pod->meta, kReleasedAtAnnotation);
    if (const WallTime due = tell_again_at(stamp, now); due > now) {
      soonest(again_at, due);
    } else {
      wave.emplace_back(Release{pod->meta.key, pod->meta.uid, value, next_stamp(stamp, now)});
    }
  }
  return wave;
}

// Whom nobody else has to wait for goes together. Tasks that are not to start in order go at once,
// but for servers: who calls them before they listen may give up.
bool may_follow(const api::PaddleJob& job, const Roster& roster, const Bench& bench) {
  const bool in_order = job.spec.tasks.empty() || job.spec.start_in_order.value_or(0) == 1;
  for (const Bench& other : roster.benches) {
    if (&other == &bench) {
      if (in_order) return true;
      continue;
    }
    const bool first =
        in_order || (other.part.kind == RoleKind::kPs && bench.part.kind != RoleKind::kPs);
    if (first && !every_seat(other, has_started)) return false;
  }
  return true;
}

}  // namespace

Released release(const api::PaddleJob& job, const Sight& sight, WallTime now,
                 const Setting& setting) {
  if (is_elastic(job.spec, setting.etcd)) return {};
  // A partial list of peers would hang the trainers: nothing until every pod can be reached.
  const Roster& roster = sight.roster;
  if (seats(roster) == 0 || without_address(roster) > 0) return {};
  if (!knows_addresses(job, roster, sight.world)) return {};
  // Nor while anybody of an earlier run is left, who may still write a checkpoint.
  if (!roster.old.empty()) return {};
  if (sight.world.rendezvous && epoch_of(sight.world.rendezvous->meta) > job.status.epoch)
    return {};

  // Nor with a list that names another address, while it is asked who is to blame for a failure.
  if (is_published(job, sight.world) && any_pod(roster, waits_for_release) &&
      has_moved(job, roster, sight.world)) {
    return {};
  }

  Released released{.waves = {publish(job, sight)}};
  for (const Bench& bench : roster.benches) {
    if (!may_follow(job, roster, bench)) continue;
    released.waves.push_back(release_bench(job, bench, now, released.again_at));
  }
  return released;
}

}  // namespace paddle::controllers
