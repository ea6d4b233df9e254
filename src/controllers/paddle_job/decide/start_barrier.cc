// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/decide/start_barrier.h"

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "base/backoff.h"
#include "controllers/paddle_job/decide/pods/pod_facts.h"
#include "controllers/paddle_job/names.h"

namespace paddle::controllers::paddle_job {
namespace {

// ---- the stamp of a release ----

struct Stamp {
  int attempts = 0;
  WallTime at{};
};

std::optional<Stamp> parse_stamp(const std::string& text) {
  Stamp stamp;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, stamp.attempts);
  if (error != std::errc{} || stamp.attempts < 1 || rest == end || *rest != ' ') {
    return std::nullopt;
  }
  const auto at = parse_rfc3339(std::string_view(rest + 1, end));
  if (!at) return std::nullopt;
  stamp.at = *at;
  return stamp;
}

std::string first_stamp(WallTime now) { return "1 " + rfc3339_micro(now); }

std::string next_stamp(const std::string& stamp, WallTime now) {
  const auto last = parse_stamp(stamp);
  const int attempts = last ? std::min(last->attempts, 1'000'000) + 1 : 2;
  return std::to_string(attempts) + " " + rfc3339_micro(now);
}

// Now, if the stamp is invalid or in the future (the clock was set back).
WallTime next_release(const std::string& stamp, WallTime now) {
  const auto last = parse_stamp(stamp);
  if (!last || last->at > now) return now;
  const auto pause = backoff(kFirstReleaseRetry, last->attempts, kLongestReleaseRetry);
  return last->at + std::chrono::floor<std::chrono::seconds>(pause);
}

// ---- the actions ----

Wave publish(const api::PaddleJob& job, const PlanContext& context) {
  const auto& stored = context.world.peer_config;
  if (stored && epoch_of(stored->meta) >= job.status.epoch) return {};
  api::Json map = peer_config_map(job, peer_data(job, addresses(job, context.slots)));
  if (!stored) return {Create{OwnedKind::kConfigMap, job.meta.key, std::move(map)}};
  map["metadata"]["resourceVersion"] = stored->meta.resource_version;
  return {Replace{job.meta.key, std::move(map)}};
}

Wave release_group(const api::PaddleJob& job, const GroupSlots& group, WallTime now,
                   std::optional<WallTime>& due) {
  Wave wave;
  for (const api::Pod* pod : group.pods) {
    if (!pod || !waits_for_release(*pod)) continue;
    const std::string value = std::to_string(job.status.epoch) + "/" + pod->ip;
    if (annotation(pod->meta, kReleaseAnnotation) != value) {
      wave.emplace_back(ReleasePod{pod->meta.key, pod->meta.uid, value, first_stamp(now)});
      continue;
    }
    if (!coordinating(*pod)) continue;
    const std::string stamp = annotation(pod->meta, kReleasedAtAnnotation);
    if (const WallTime next = next_release(stamp, now); next > now) {
      earliest(due, std::optional(next));
    } else {
      wave.emplace_back(ReleasePod{pod->meta.key, pod->meta.uid, value, next_stamp(stamp, now)});
    }
  }
  return wave;
}

// Whether all groups that have to start before this one have started. Tasks without startInOrder
// start together, except that servers start first: a client that calls a server before it listens
// may give up.
bool may_start(const api::PaddleJob& job, const ReplicaSlots& slots, const GroupSlots& group) {
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

BarrierActions release_pods(const api::PaddleJob& job, const PlanContext& context, WallTime now,
                            const Config& config) {
  if (is_elastic(job.spec, config.etcd)) return {};
  // With an incomplete list of peers the trainers would hang.
  const ReplicaSlots& slots = context.slots;
  if (slot_count(slots) == 0 || without_address(slots) > 0) return {};
  if (!addresses_known(job, slots, context.world)) return {};
  // A pod of an earlier epoch may still write a checkpoint.
  if (!slots.old.empty()) return {};
  const auto& stored = context.world.peer_config;
  if (stored && epoch_of(stored->meta) > job.status.epoch) return {};
  // The list has another address, and the cause of a failure is still being determined.
  if (is_published(job, context.world) && any_pod(slots, waits_for_release) &&
      address_changed(job, slots, context.world)) {
    return {};
  }

  BarrierActions actions{.waves = {publish(job, context)}};
  for (const GroupSlots& group : slots.groups) {
    if (!may_start(job, slots, group)) continue;
    actions.waves.push_back(release_group(job, group, now, actions.due));
  }
  return actions;
}

Addresses addresses(const api::PaddleJob& job, const ReplicaSlots& slots) {
  Addresses out;
  for (const GroupSlots& group : slots.groups) {
    auto& list = out[group.spec.name];
    for (size_t i = 0; i < group.pods.size(); ++i) {
      const api::Pod* pod = group.pods[i];
      if (uses_services(job.spec)) {
        list.push_back(pod_name(job, group.spec, static_cast<int>(i)));
      } else if (pod) {
        list.push_back(pod->ip);
      } else {
        list.push_back(group.done[i] ? kDeparted : std::string());
      }
    }
  }
  return out;
}

bool is_published(const api::PaddleJob& job, const World& world) {
  return world.peer_config && epoch_of(world.peer_config->meta) == job.status.epoch;
}

bool addresses_known(const api::PaddleJob& job, const ReplicaSlots& slots, const World& world) {
  return uses_services(job.spec) || departed(slots) == 0 || is_published(job, world);
}

bool address_changed(const api::PaddleJob& job, const ReplicaSlots& slots, const World& world) {
  const auto& stored = world.peer_config;
  if (!stored || !stored->meta.annotations.contains(kShapeAnnotation)) return false;
  if (without_address(slots) > 0) return false;
  return !same_peers(stored->data, peer_data(job, addresses(job, slots)));
}

}  // namespace paddle::controllers::paddle_job
