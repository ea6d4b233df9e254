// SPDX-License-Identifier: Apache-2.0
#include "local/cluster/scheduler.h"

#include <nlohmann/json.hpp>

#include "controllers/loop/sources.h"
#include "local/cluster/placement.h"

namespace paddle::local {
namespace {

using api::Json;
using api::ObjectKey;
using controllers::ReconcileResult;
namespace kinds = kube::resources;

class Scheduler {
 public:
  Scheduler(const controllers::ControllerContext& context, const Clock& clock)
      : cluster_(context.cluster),
        events_(context.events),
        clock_(clock),
        pods_(context.informers.of<PendingPod>(kinds::kPods, {.field_selector = "spec.nodeName="},
                                               {"pending-pod", decode_pending_pod})),
        nodes_(
            context.informers.of<NodeInfo>(kinds::kNodes, {}, {"node-facts", decode_node_info})) {
    controllers::for_kind(pods_, context.queue);
    controllers::watches(nodes_, context.queue, [pods = pods_](const NodeInfo&) {
      std::vector<ObjectKey> keys;
      for (const auto& pod : pods.list()) keys.push_back(pod->meta.key);
      return keys;
    });
  }

  Result<ReconcileResult> reconcile(const ObjectKey& key, std::stop_token stop) {
    const auto pod = pods_.find(key);
    if (!pod || pod->meta.deleting()) return ReconcileResult{};
    if (!pod->scheduler.empty() && pod->scheduler != "default-scheduler") return ReconcileResult{};
    std::vector<NodeInfo> nodes;
    for (const auto& node : nodes_.list()) nodes.push_back(*node);
    const Placement placement = place(*pod, std::move(nodes));
    const kube::Call call{.stop = stop};
    CHECK_DONE(placement.node.empty() ? explain(*pod, placement, call)
                                      : bind(*pod, placement.node, call));
    return ReconcileResult{};
  }

 private:
  // The effect of POST .../binding on our server; kube::Cluster has no verb for it.
  Result<> bind(const PendingPod& pod, const std::string& node, const kube::Call& call) {
    const kube::Patch patch{
        .body = {
            {"metadata", {{"uid", pod.meta.uid}, {"resourceVersion", pod.meta.resource_version}}},
            {"spec", {{"nodeName", node}}}}};
    auto stored = cluster_.patch(kinds::kPods, pod.meta.key, patch, {}, call);
    if (stored.is(Code::kNotFound)) return Done{};
    if (!stored) return std::move(stored).error().in("bind pod " + to_string(pod.meta.key));
    pods_.acknowledge_deleted(pod.meta.key, pod.meta.uid);
    record_event(pod, kube::EventKind::kNormal, "Scheduled", "assigned the pod to " + node);
    return Done{};
  }

  Result<> explain(const PendingPod& pod, const Placement& placement, const kube::Call& call) {
    const std::string& why = placement.message;
    if (pod.why_waiting == why) return Done{};
    const Json condition = {{"type", "PodScheduled"},
                            {"status", "False"},
                            {"reason", placement.reason},
                            {"message", why},
                            {"lastTransitionTime", rfc3339(clock_.wall())}};
    const kube::Patch patch{.body = {{"metadata", {{"uid", pod.meta.uid}}},
                                     {"status", {{"conditions", Json::array({condition})}}}}};
    auto stored = cluster_.patch(kinds::kPods, pod.meta.key, patch, "status", call);
    if (stored.is(Code::kNotFound) || stored.is(Code::kConflict)) return Done{};
    if (!stored) return std::move(stored).error().in("explain pod " + to_string(pod.meta.key));
    pods_.acknowledge(*stored);
    if (pod.gates.empty()) record_event(pod, kube::EventKind::kWarning, "FailedScheduling", why);
    return Done{};
  }

  void record_event(const PendingPod& pod, kube::EventKind kind, const char* reason,
                    std::string message) {
    events_.event({.api_version = "v1", .kind = "Pod", .key = pod.meta.key, .uid = pod.meta.uid},
                  kind, reason, std::move(message));
  }

  kube::Cluster& cluster_;
  kube::EventRecorder& events_;
  const Clock& clock_;
  kube::Store<PendingPod> pods_;
  kube::Store<NodeInfo> nodes_;
};

}  // namespace

controllers::Reconcile make_scheduler(const controllers::ControllerContext& context,
                                      const Clock& clock) {
  auto scheduler = std::make_shared<Scheduler>(context, clock);
  return [scheduler](const ObjectKey& key, std::stop_token stop) {
    return scheduler->reconcile(key, stop);
  };
}

}  // namespace paddle::local
