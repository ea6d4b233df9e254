// SPDX-License-Identifier: Apache-2.0
#include "local/cluster/binder.h"

#include <nlohmann/json.hpp>

#include "controllers/loop/sources.h"
#include "local/cluster/placement.h"

namespace paddle::local {
namespace {

using api::Json;
using api::ObjectKey;
using controllers::ReconcileResult;
namespace kinds = kube::resources;

class Binder {
 public:
  Binder(const controllers::ControllerContext& around, const Clock& clock)
      : cluster_(around.cluster),
        events_(around.events),
        clock_(clock),
        pods_(around.informers.of<PendingPod>(kinds::kPods, {.field_selector = "spec.nodeName="},
                                              {"pending-pod", decode_pending_pod})),
        nodes_(
            around.informers.of<NodeFacts>(kinds::kNodes, {}, {"node-facts", decode_node_facts})) {
    controllers::for_kind(pods_, around.queue);
    controllers::watches(nodes_, around.queue, [pods = pods_](const NodeFacts&) {
      std::vector<ObjectKey> keys;
      for (const auto& pod : pods.list()) keys.push_back(pod->meta.key);
      return keys;
    });
  }

  Result<ReconcileResult> reconcile(const ObjectKey& key, std::stop_token stop) {
    const auto pod = pods_.find(key);
    if (!pod || pod->meta.deleting()) return ReconcileResult{};
    if (!pod->scheduler.empty() && pod->scheduler != "default-scheduler") return ReconcileResult{};
    std::vector<NodeFacts> nodes;
    for (const auto& node : nodes_.list()) nodes.push_back(*node);
    const Placement placement = place(*pod, std::move(nodes));
    const kube::Call call{.stop = stop};
    CHECK_DONE(placement.node.empty() ? explain(*pod, placement, call)
                                      : bind(*pod, placement.node, call));
    return ReconcileResult{};
  }

 private:
  // What POST .../binding comes to on our own server; kube::Cluster has no verb for it.
  Result<> bind(const PendingPod& pod, const std::string& node, const kube::Call& call) {
    const kube::Patch patch{
        .body = {
            {"metadata", {{"uid", pod.meta.uid}, {"resourceVersion", pod.meta.resource_version}}},
            {"spec", {{"nodeName", node}}}}};
    auto stored = cluster_.patch(kinds::kPods, pod.meta.key, patch, {}, call);
    if (stored.is(Code::kNotFound)) return Done{};
    if (!stored) return std::move(stored).error().in("bind pod " + to_string(pod.meta.key));
    pods_.acknowledge_deleted(pod.meta.key, pod.meta.uid);
    tell(pod, kube::EventKind::kNormal, "Scheduled", "assigned the pod to " + node);
    return Done{};
  }

  Result<> explain(const PendingPod& pod, const Placement& nowhere, const kube::Call& call) {
    const std::string& why = nowhere.why_nowhere;
    if (pod.why_waiting == why) return Done{};
    const Json condition = {{"type", "PodScheduled"},
                            {"status", "False"},
                            {"reason", nowhere.reason},
                            {"message", why},
                            {"lastTransitionTime", rfc3339(clock_.wall())}};
    const kube::Patch patch{.body = {{"metadata", {{"uid", pod.meta.uid}}},
                                     {"status", {{"conditions", Json::array({condition})}}}}};
    auto stored = cluster_.patch(kinds::kPods, pod.meta.key, patch, "status", call);
    if (stored.is(Code::kNotFound) || stored.is(Code::kConflict)) return Done{};
    if (!stored) return std::move(stored).error().in("explain pod " + to_string(pod.meta.key));
    pods_.acknowledge(*stored);
    if (pod.gates.empty()) tell(pod, kube::EventKind::kWarning, "FailedScheduling", why);
    return Done{};
  }

  void tell(const PendingPod& pod, kube::EventKind kind, const char* reason, std::string message) {
    events_.event({.api_version = "v1", .kind = "Pod", .key = pod.meta.key, .uid = pod.meta.uid},
                  kind, reason, std::move(message));
  }

  kube::Cluster& cluster_;
  kube::EventRecorder& events_;
  const Clock& clock_;
  kube::Store<PendingPod> pods_;
  kube::Store<NodeFacts> nodes_;
};

}  // namespace

controllers::Reconcile make_binder(const controllers::ControllerContext& around,
                                   const Clock& clock) {
  auto binder = std::make_shared<Binder>(around, clock);
  return
      [binder](const ObjectKey& key, std::stop_token stop) { return binder->reconcile(key, stop); };
}

}  // namespace paddle::local
