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

bool has_started(const api::Pod& pod) {
  return runs(pod) || pod.phase == api::PodPhase::kSucceeded;
}

Wave release_bench(const api::PaddleJob& job, const Bench& bench, WallTime now,
                   std::optional<WallTime>& again_at) {
  Wave wave;
  for (const api::Pod* pod : bench.seats) {
    if (!waits_for_release(*pod)) continue;
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

}  // namespace

Released release(const api::PaddleJob& job, const Sight& sight, WallTime now,
                 const Setting& setting) {
  if (is_elastic(job.spec, setting.etcd)) return {};
  // A partial list of peers would hang the trainers: nothing until every pod can be reached.
  const Roster& roster = sight.roster;
  if (seats(roster) == 0 || without_address(roster) > 0) return {};
  // Nor while anybody of an earlier run is left, who may still write a checkpoint.
  if (!roster.old.empty()) return {};
  if (sight.world.rendezvous && epoch_of(sight.world.rendezvous->meta) > job.status.epoch)
    return {};

  Released released{.waves = {publish(job, sight)}};
  for (const Bench& bench : roster.benches) {
    released.waves.push_back(release_bench(job, bench, now, released.again_at));
    if (!every_seat(bench, has_started)) break;
  }
  return released;
}

}  // namespace paddle::controllers
