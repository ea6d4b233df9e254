// SPDX-License-Identifier: Apache-2.0
#include "local/cluster/stateful_set_controller.h"

#include <nlohmann/json.hpp>

#include "base/match.h"
#include "controllers/loop/sources.h"
#include "local/cluster/stateful_set_plan.h"

namespace paddle::local {
namespace {

using api::Json;
using api::ObjectKey;
using controllers::ReconcileResult;
namespace kinds = kube::resources;

constexpr const char* kByOwner = "controller-uid";

class StatefulSetController {
 public:
  explicit StatefulSetController(const controllers::ControllerContext& context)
      : cluster_(context.cluster),
        events_(context.events),
        sets_(context.informers.of<StatefulSet>(kinds::kStatefulSets, {},
                                                {"stateful-set", decode_stateful_set})),
        pods_(context.informers.of<MemberPod>(kinds::kPods, {.label_selector = kPodNameLabel},
                                              {"member-pod", decode_member_pod})) {
    pods_.add_index(kByOwner, [](const MemberPod& member) {
      const auto* owner = member.pod.meta.controller();
      return owner ? std::vector{owner->uid} : std::vector<std::string>{};
    });
    controllers::for_kind(sets_, context.queue);
    controllers::watches(pods_, context.queue, [](const MemberPod& member) {
      const auto key = controllers::controlling_key(member.pod.meta, kinds::kStatefulSets);
      return key ? std::vector{*key} : std::vector<ObjectKey>{};
    });
  }

  Result<ReconcileResult> reconcile(const ObjectKey& key, std::stop_token stop) {
    const auto set = sets_.find(key);
    if (!set) return ReconcileResult{};
    std::vector<MemberPod> pods;
    for (const auto& pod : pods_.list(kByOwner, set->meta.uid)) pods.push_back(*pod);
    for (const MemberAction& action : desired_members(*set, pods)) {
      if (auto done = carry_out(action, *set, {.stop = stop}); !done) {
        return std::move(done).error().in("statefulset " + to_string(key));
      }
    }
    return ReconcileResult{};
  }

 private:
  Result<> carry_out(const MemberAction& action, const StatefulSet& set, const kube::Call& call) {
    return std::visit(Match{
                          [&](const CreateMember& a) { return create(a, set, call); },
                          [&](const DeleteMember& a) { return remove(a, set, call); },
                          [&](const SetStatefulStatus& a) { return write(a.status, set, call); },
                      },
                      action);
  }

  Result<> create(const CreateMember& a, const StatefulSet& set, const kube::Call& call) {
    const std::string name = member_name(set, a.index);
    auto made = cluster_.create(kinds::kPods, member_pod(set, a.index), call);
    if (made.is(Code::kAlreadyExists)) return adopt({set.meta.key.ns, name}, set, call);
    if (!made) {
      record_event(set, kube::EventKind::kWarning, "FailedCreate",
                   "cannot create pod " + name + ": " + made.error().message);
      return std::move(made).error().in("create pod " + name);
    }
    pods_.acknowledge(*made);
    record_event(set, kube::EventKind::kNormal, "SuccessfulCreate", "created pod " + name);
    return Done{};
  }

  // A pod of that name exists: it is ours if the reply to our create was lost; otherwise it is a
  // conflict.
  Result<> adopt(const ObjectKey& key, const StatefulSet& set, const kube::Call& call) {
    TRY(const Json found, cluster_.get(kinds::kPods, key, call));
    TRY(const api::Meta meta, api::decode_meta(found));
    const auto* owner = meta.controller();
    if (owner && owner->uid == set.meta.uid) {
      pods_.acknowledge(found);
      return Done{};
    }
    return Error{Code::kConflict,
                 "a pod named " + key.name + " exists and does not belong to this set; remove it"};
  }

  Result<> remove(const DeleteMember& a, const StatefulSet& set, const kube::Call& call) {
    auto removed = cluster_.remove(kinds::kPods, a.key, {.uid = a.uid}, call);
    if (removed.is(Code::kNotFound) || removed.is(Code::kConflict)) return Done{};
    if (!removed) return std::move(removed).error().in("delete pod " + a.key.name);
    record_event(set, kube::EventKind::kNormal, "SuccessfulDelete",
                 "deleted pod " + a.key.name + ": " + a.why);
    return Done{};
  }

  Result<> write(const StatefulSetStatus& status, const StatefulSet& set, const kube::Call& call) {
    const Json body = {
        {"replicas", status.replicas},        {"readyReplicas", status.ready},
        {"availableReplicas", status.ready},  {"currentReplicas", status.current},
        {"updatedReplicas", status.current},  {"observedGeneration", status.observed_generation},
        {"currentRevision", status.revision}, {"updateRevision", status.revision}};
    const kube::Patch patch{.body = {{"metadata", {{"uid", set.meta.uid}}}, {"status", body}}};
    auto stored = cluster_.patch(kinds::kStatefulSets, set.meta.key, patch, "status", call);
    if (stored.is(Code::kNotFound) || stored.is(Code::kConflict)) return Done{};
    if (!stored) return std::move(stored).error().in("write the status");
    sets_.acknowledge(*stored);
    return Done{};
  }

  void record_event(const StatefulSet& set, kube::EventKind kind, const char* reason,
                    std::string message) {
    events_.event(
        {.api_version = "apps/v1", .kind = "StatefulSet", .key = set.meta.key, .uid = set.meta.uid},
        kind, reason, std::move(message));
  }

  kube::Cluster& cluster_;
  kube::EventRecorder& events_;
  kube::Store<StatefulSet> sets_;
  kube::Store<MemberPod> pods_;
};

}  // namespace

controllers::Reconcile make_stateful_set_controller(const controllers::ControllerContext& context) {
  auto controller = std::make_shared<StatefulSetController>(context);
  return [controller](const ObjectKey& key, std::stop_token stop) {
    return controller->reconcile(key, stop);
  };
}

}  // namespace paddle::local
