// SPDX-License-Identifier: Apache-2.0
#include "controllers/sample_set/children.h"

#include <nlohmann/json.hpp>

#include "base/stable_hash.h"
#include "controllers/sample_set/progress.h"
#include "engine/names.h"

namespace paddle::controllers::sample_sets {
namespace {

using api::Json;

std::string mark_of(const Json& pod_template) { return stable_hash_hex(pod_template.dump()); }

std::string mark_on(const api::Meta& meta) {
  const auto found = meta.annotations.find(kTemplateAnnotation);
  return found == meta.annotations.end() ? "" : found->second;
}

Json token_secret(const api::SampleSet& set, const std::string& engine) {
  return {{"apiVersion", "v1"},
          {"kind", "Secret"},
          {"type", "Opaque"},
          {"metadata", engine::metadata(set, engine, set.meta.key.ns, engine::runtime_name(set))}};
}

}  // namespace

std::string event_name(ChildKind kind) {
  switch (kind) {
    case ChildKind::kToken:
      return "Secret";
    case ChildKind::kVolume:
      return "PV";
    case ChildKind::kClaim:
      return "PVC";
    case ChildKind::kService:
      return "Service";
    case ChildKind::kRuntimes:
      return "StatefulSet";
  }
  return "";
}

Json marked(const Json& stateful_set) {
  Json out = stateful_set;
  Json& pod_template = out["spec"]["template"];
  const std::string mark = mark_of(pod_template);
  pod_template["metadata"]["annotations"][kTemplateAnnotation] = mark;
  out["metadata"]["annotations"][kTemplateAnnotation] = mark;
  // Pods are replaced by us, one at a time.
  out["spec"]["updateStrategy"] = {{"type", "OnDelete"}};
  return out;
}

std::optional<Stranger> stranger_among(const api::SampleSet& set, const World& world) {
  const auto foreign = [&](const api::Meta& meta) { return !engine::belongs_to(meta, set); };
  if (world.token && foreign(*world.token)) return Stranger{"Secret", world.token->key.name};
  if (world.volume && foreign(world.volume->meta)) {
    return Stranger{"PV", world.volume->meta.key.name};
  }
  if (world.claim && foreign(world.claim->meta)) return Stranger{"PVC", world.claim->meta.key.name};
  if (world.service && foreign(*world.service)) {
    return Stranger{"Service", world.service->key.name};
  }
  if (world.runtimes && foreign(world.runtimes->meta)) {
    return Stranger{"StatefulSet", world.runtimes->meta.key.name};
  }
  return std::nullopt;
}

void create_missing(const api::SampleSet& set, const World& world, const std::string& engine,
                    const engine::Manifests& manifests, Plan& plan) {
  if (!world.token) {
    plan.actions.emplace_back(
        CreateChild{ChildKind::kToken, api::Opaque(token_secret(set, engine))});
  }
  if (!world.volume) plan.actions.emplace_back(CreateChild{ChildKind::kVolume, manifests.volume});
  if (!world.claim) plan.actions.emplace_back(CreateChild{ChildKind::kClaim, manifests.claim});
  if (!world.service) {
    plan.actions.emplace_back(CreateChild{ChildKind::kService, manifests.service});
  }
  if (!world.runtimes) {
    plan.actions.emplace_back(
        CreateChild{ChildKind::kRuntimes, api::Opaque(marked(*manifests.runtimes))});
  }
}

void update_runtimes(const api::SampleSet& set, const World& world,
                     const engine::Manifests& manifests, Plan& plan) {
  if (!world.runtimes || world.runtimes->meta.deleting()) return;
  const Json wanted = marked(*manifests.runtimes);
  const std::string mark = wanted["metadata"]["annotations"][kTemplateAnnotation];
  Json patch = Json::object();
  if (world.runtimes->replicas != set.spec.effective_partitions()) {
    patch["spec"]["replicas"] = set.spec.effective_partitions();
  }
  if (mark_on(world.runtimes->meta) != mark) {
    patch["spec"]["template"] = wanted["spec"]["template"];
    patch["metadata"]["annotations"][kTemplateAnnotation] = mark;
  }
  if (!patch.empty()) {
    patch["metadata"]["uid"] = world.runtimes->meta.uid;
    plan.actions.emplace_back(PatchRuntimes{world.runtimes->meta.uid, api::Opaque(patch)});
    return;  // its pods are looked at when the change has been seen
  }
  const bool all_ready = world.runtimes->ready >= set.spec.effective_partitions();
  for (const api::Pod* pod : seats(set, world)) {
    if (!pod || mark_on(pod->meta) == mark) continue;
    if (!all_ready && pod->all_ready()) continue;  // the others first
    plan.actions.emplace_back(ReplaceRuntime{pod->meta.key, pod->meta.uid});
    return;
  }
}

}  // namespace paddle::controllers::sample_sets
