// SPDX-License-Identifier: Apache-2.0
#include "local/cluster/volume_binder.h"

#include <nlohmann/json.hpp>

#include "api/phases.h"
#include "base/match.h"
#include "controllers/loop/sources.h"
#include "local/cluster/volume_plan.h"

namespace paddle::local {
namespace {

using api::Json;
using api::ObjectKey;
using controllers::ReconcileResult;
namespace kinds = kube::resources;

// kube-controller-manager sets it too; tools look for it.
constexpr const char* kBindCompleted = "pv.kubernetes.io/bind-completed";

class VolumeBinder {
 public:
  explicit VolumeBinder(const controllers::ControllerContext& context)
      : cluster_(context.cluster),
        volumes_(context.informers.of<Volume>(kinds::kPersistentVolumes, {},
                                              {"volume", decode_volume_object})),
        claims_(context.informers.of<Claim>(kinds::kClaims, {}, {"claim", decode_claim_object})) {
    controllers::for_kind(volumes_, context.queue);
    controllers::for_kind(claims_, context.queue);
    // A claim may wait for a change of a volume, and the other way round.
    controllers::watches(volumes_, context.queue, [claims = claims_](const Volume& volume) {
      std::vector<ObjectKey> keys;
      for (const auto& claim : claims.list()) {
        const bool concerned =
            claim->volume == volume.meta.key.name || claim->phase != api::claim_phase::kBound;
        if (concerned) keys.push_back(claim->meta.key);
      }
      return keys;
    });
    controllers::watches(claims_, context.queue, [volumes = volumes_](const Claim& claim) {
      std::vector<ObjectKey> keys;
      for (const auto& volume : volumes.list()) {
        if (volume->claim && volume->claim->key == claim.meta.key) keys.push_back(volume->meta.key);
      }
      return keys;
    });
  }

  Result<ReconcileResult> reconcile(const ObjectKey& key, std::stop_token stop) {
    const kube::Call call{.stop = stop};
    if (key.ns.empty()) {
      CHECK_DONE(visit_volume(key, call));
    } else {
      CHECK_DONE(visit_claim(key, call));
    }
    return ReconcileResult{};
  }

 private:
  Result<> visit_volume(const ObjectKey& key, const kube::Call& call) {
    const auto volume = volumes_.find(key);
    if (!volume) return Done{};
    const auto claim = volume->claim ? claims_.find(volume->claim->key) : nullptr;
    const std::string phase = desired_phase(*volume, claim.get());
    if (phase.empty()) return Done{};
    return write(SetVolumePhase{key.name, volume->meta.uid, phase}, call);
  }

  Result<> visit_claim(const ObjectKey& key, const kube::Call& call) {
    const auto claim = claims_.find(key);
    if (!claim) return Done{};
    std::vector<Volume> volumes;
    for (const auto& volume : volumes_.list()) volumes.push_back(*volume);
    for (const BindAction& action : desired_binding(*claim, volumes)) {
      auto done = std::visit(Match{
                                 [&](const ReserveVolume& a) { return write(a, call); },
                                 [&](const SetVolumePhase& a) { return write(a, call); },
                                 [&](const NameVolume& a) { return write(*claim, a, call); },
                                 [&](const SetClaimStatus& a) { return write(*claim, a, call); },
                             },
                             action);
      if (!done) return std::move(done).error().in("bind claim " + to_string(key));
    }
    return Done{};
  }

  Result<> write(const ReserveVolume& a, const kube::Call& call) {
    const Json claim = {{"apiVersion", "v1"},
                        {"kind", "PersistentVolumeClaim"},
                        {"namespace", a.claim.key.ns},
                        {"name", a.claim.key.name},
                        {"uid", a.claim.uid}};
    TRY(const Json stored,
        cluster_.patch(kinds::kPersistentVolumes, {"", a.volume},
                       {.body = {{"metadata", {{"resourceVersion", a.resource_version}}},
                                 {"spec", {{"claimRef", claim}}}}},
                       {}, call));
    volumes_.acknowledge(stored);
    return Done{};
  }

  Result<> write(const SetVolumePhase& a, const kube::Call& call) {
    auto stored =
        cluster_.patch(kinds::kPersistentVolumes, {"", a.volume},
                       {.body = {{"metadata", {{"uid", a.uid}}}, {"status", {{"phase", a.phase}}}}},
                       "status", call);
    if (stored.is(Code::kNotFound)) return Done{};
    if (!stored) return std::move(stored).error().in("volume " + a.volume);
    volumes_.acknowledge(*stored);
    return Done{};
  }

  Result<> write(const Claim& claim, const NameVolume& a, const kube::Call& call) {
    TRY(const Json stored,
        cluster_.patch(
            kinds::kClaims, claim.meta.key,
            {.body = {{"metadata",
                       {{"uid", claim.meta.uid}, {"annotations", {{kBindCompleted, "yes"}}}}},
                      {"spec", {{"volumeName", a.volume}}}}},
            {}, call));
    claims_.acknowledge(stored);
    return Done{};
  }

  Result<> write(const Claim& claim, const SetClaimStatus& a, const kube::Call& call) {
    Json status = {{"phase", a.phase}};
    if (!a.capacity.empty()) status["capacity"] = {{"storage", a.capacity}};
    if (!a.access_modes.empty()) status["accessModes"] = a.access_modes;
    TRY(const Json stored,
        cluster_.patch(kinds::kClaims, claim.meta.key,
                       {.body = {{"metadata", {{"uid", claim.meta.uid}}}, {"status", status}}},
                       "status", call));
    claims_.acknowledge(stored);
    return Done{};
  }

  kube::Cluster& cluster_;
  kube::Store<Volume> volumes_;
  kube::Store<Claim> claims_;
};

}  // namespace

controllers::Reconcile make_volume_binder(const controllers::ControllerContext& context) {
  auto binder = std::make_shared<VolumeBinder>(context);
  return
      [binder](const ObjectKey& key, std::stop_token stop) { return binder->reconcile(key, stop); };
}

}  // namespace paddle::local
