// SPDX-License-Identifier: Apache-2.0
#include "test/support/fake_kubelet.h"

#include <nlohmann/json.hpp>

#include "api/core/pod.h"
#include "api/json/look.h"
#include "base/clock.h"
#include "controllers/paddle_job/decide/pods/pod_facts.h"
#include "controllers/paddle_job/names.h"

namespace paddle::test {
namespace {

namespace paddle_job = controllers::paddle_job;
using kube::Json;
using paddle_job::epoch_of;
namespace kinds = kube::resources;

Json container(const char* state, const Json& detail) {
  return Json::array({Json{{"name", "main"},
                           {"image", "i"},
                           {"imageID", ""},
                           {"restartCount", 0},
                           {"ready", std::string(state) == "running"},
                           {"state", {{state, detail}}}}});
}

}  // namespace

FakeKubelet::FakeKubelet(kube::Cluster& server, std::string ns, Ends ends,
                         std::chrono::milliseconds pause)
    : server_(server),
      ns_(std::move(ns)),
      ends_(std::move(ends)),
      thread_([this, pause](std::stop_token stop) {
        while (system_clock().sleep(pause, stop)) look();
      }) {}

FakeKubelet::FakeKubelet(kube::Cluster& server, std::string ns, Ends ends, Threadless)
    : server_(server), ns_(std::move(ns)), ends_(std::move(ends)) {}

std::unique_ptr<FakeKubelet> FakeKubelet::without_thread(kube::Cluster& server, std::string ns,
                                                         Ends ends) {
  return std::unique_ptr<FakeKubelet>(
      new FakeKubelet(server, std::move(ns), std::move(ends), Threadless{}));
}

void FakeKubelet::look() {
  std::vector<Json> pods;
  (void)server_.list(kinds::kPods, {.ns = ns_}, [&](std::string_view text) -> Result<> {
    TRY(Json pod, api::parse_json(text));
    pods.push_back(std::move(pod));
    return Done{};
  });
  for (const Json& pod : pods) tend(pod);
}

void FakeKubelet::tend(const Json& object) {
  const auto decoded = api::decode_pod(object);
  if (!decoded) return;
  // When the client that requested a deletion was killed before the response, the API server may
  // keep the mark and not finish: the pod garbage collector does.
  if (decoded->meta.deleting()) {
    (void)server_.remove(kinds::kPods, decoded->meta.key,
                         {.uid = decoded->meta.uid, .grace_seconds = 0});
    return;
  }
  const api::Pod& pod = *decoded;
  const std::string& name = pod.meta.key.name;
  if (!api::look_list(object, "/spec/schedulingGates").empty()) return;  // the scheduler waits
  if (pod.ip.empty()) {
    const auto next = std::to_string(addresses_.size() + 1);
    const auto& ip = addresses_.try_emplace(pod.meta.uid, "10.0.0." + next).first->second;
    return set(pod.meta,
               {{"phase", "Pending"}, {"podIP", ip}, {"podIPs", Json::array({Json{{"ip", ip}}})}});
  }
  if (paddle_job::ended(pod)) return;
  if (pod.phase == api::PodPhase::kPending) {
    const auto said = pod.meta.annotations.find(paddle_job::kReleaseAnnotation);
    const std::string awaited = std::to_string(epoch_of(pod.meta)) + "/" + pod.ip;
    const bool coordinated = !api::look(object, "/spec/initContainers").is_null();
    if (coordinated && (said == pod.meta.annotations.end() || said->second != awaited)) return;
    const std::string job = name.substr(0, name.rfind('-', name.rfind('-') - 1));
    // Released: then all that it needs exists.
    if (coordinated && !server_.get(kinds::kConfigMaps, {ns_, job}) && complaint_.empty()) {
      complaint_ = name + " was released without its ConfigMap";
    }
    return set(pod.meta,
               {{"phase", "Running"}, {"containerStatuses", container("running", Json::object())}});
  }
  if (pod.active_deadline_seconds > 0) {
    return set(pod.meta, {{"phase", "Failed"},
                          {"reason", "DeadlineExceeded"},
                          {"containerStatuses", container("terminated", {{"exitCode", 143}})}});
  }
  const std::string end = ends_(name, static_cast<int>(epoch_of(pod.meta)));
  if (end == "Running") return;
  Json status = {{"phase", end == "Evicted" ? "Failed" : end}};
  if (end == "Evicted") status["reason"] = end;
  status["containerStatuses"] = container("terminated", {{"exitCode", end == "Failed" ? 3 : 0}});
  set(pod.meta, status);
}

// For exactly this pod, not for a later one of the same name.
void FakeKubelet::set(const api::Meta& pod, const Json& status) {
  (void)server_.patch(kinds::kPods, pod.key,
                      {.body = {{"metadata", {{"uid", pod.uid}}}, {"status", status}}}, "status");
}

}  // namespace paddle::test
