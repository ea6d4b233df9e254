// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/decide/volume_preparation.h"

#include <algorithm>
#include <charconv>

#include <nlohmann/json.hpp>

#include "base/backoff.h"
#include "controllers/sample_set/decide/runtime_liveness.h"
#include "controllers/sample_set/objects/owned_objects.h"

namespace paddle::controllers::sample_set {
namespace {

using std::chrono::seconds;

int attempts_of(const World& world) {
  const std::string text = world.credentials ? annotation(world.credentials->meta, kAttempts) : "";
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

WallTime retry_at(const World& world) {
  const api::Pod& pod = *world.preparation;
  WallTime ended = pod.meta.created.value_or(WallTime{});
  for (const auto& container : pod.containers) {
    if (container.ended) ended = std::max(ended, *container.ended);
  }
  return ended + std::chrono::duration_cast<seconds>(
                     backoff(kFirstRetry, attempts_of(world) + 1, kLongestPreparationRetry));
}

void delete_pod(const World& world, Plan& plan) {
  const api::Meta& pod = world.preparation->meta;
  if (pod.deleting()) return;
  plan.add(DeleteObject{OwnedKind::kPreparation, pod.key, pod.uid});
}

// Its kubelet will report neither how it ended nor that it is gone.
bool is_lost_pod(const api::Pod& pod, const World& world, WallTime now) {
  const bool ended = pod.phase == api::PodPhase::kSucceeded || pod.phase == api::PodPhase::kFailed;
  return (pod.meta.deleting() || !ended) && is_lost(pod, world, now);
}

}  // namespace

bool is_prepared(const World& world, const engine::Manifests& manifests) {
  if (!manifests.preparation) return true;
  if (!world.credentials) return false;
  const std::string from = annotation(world.credentials->meta, kCopiedFrom);
  return !from.empty() && annotation(world.credentials->meta, kPreparedWith) == from;
}

void prepare_volume(const World& world, const engine::Manifests& manifests, WallTime now,
                    Plan& plan) {
  if (!manifests.preparation || !world.credentials || world.credentials->meta.deleting()) return;
  const api::Meta& copy = world.credentials->meta;
  const std::string from = annotation(copy, kCopiedFrom);
  if (world.preparation && is_lost_pod(*world.preparation, world, now)) {
    const api::Meta& pod = world.preparation->meta;
    plan.add(DeleteObject{OwnedKind::kPreparation, pod.key, pod.uid, true});
    return;
  }
  if (world.secret && world.secret->exists && world.secret->version != from) return;
  if (is_prepared(world, manifests)) {
    if (world.preparation) delete_pod(world, plan);
    return;
  }
  if (!world.preparation) {
    const bool again = !annotation(copy, kPreparedWith).empty() && manifests.preparation_again;
    api::Json pod = again ? *manifests.preparation_again : *manifests.preparation;
    pod["metadata"]["annotations"][kPrepares] = from;
    plan.add(CreateObject{OwnedKind::kPreparation, api::Opaque(std::move(pod))});
    return;
  }
  const api::Pod& pod = *world.preparation;
  if (pod.meta.deleting()) return;
  if (annotation(pod.meta, kPrepares) != from) {
    plan.add(Annotate{OwnedKind::kCredentials, copy.key, copy.uid, {{kAttempts, ""}}});
    return delete_pod(world, plan);
  }
  if (pod.phase == api::PodPhase::kSucceeded) {
    plan.add(Annotate{
        OwnedKind::kCredentials, copy.key, copy.uid, {{kPreparedWith, from}, {kAttempts, ""}}});
  } else if (pod.phase == api::PodPhase::kFailed && now >= retry_at(world)) {
    plan.add(Annotate{OwnedKind::kCredentials,
                      copy.key,
                      copy.uid,
                      {{kAttempts, std::to_string(attempts_of(world) + 1)}}});
    delete_pod(world, plan);
  }
}

std::optional<std::string> preparation_error(const World& world) {
  if (!world.preparation || world.preparation->phase != api::PodPhase::kFailed) {
    return std::nullopt;
  }
  for (const auto& container : world.preparation->containers) {
    if (!container.message.empty()) return container.message;
  }
  const api::Pod& pod = *world.preparation;
  if (!pod.message.empty()) return pod.message;
  return "see kubectl logs " + pod.meta.key.name;
}

std::string preparation_problem(const World& world) {
  if (!world.preparation) return "";
  const api::Pod& pod = *world.preparation;
  if (!pod.unschedulable.empty()) return "; " + pod.meta.key.name + ": " + pod.unschedulable;
  for (const auto& container : pod.containers) {
    const bool waits = container.state == api::ContainerStatus::State::kWaiting;
    if (!waits || container.reason.empty() || container.reason == "ContainerCreating") continue;
    return "; " + pod.meta.key.name + ": " + container.reason;
  }
  return "";
}

std::optional<seconds> preparation_retry(const World& world, WallTime now) {
  if (!world.preparation || world.preparation->phase != api::PodPhase::kFailed) {
    return std::nullopt;
  }
  const auto left = std::chrono::ceil<seconds>(retry_at(world) - now);
  return std::max(left, seconds(1));
}

}  // namespace paddle::controllers::sample_set
