// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/reconciler_fixture.h"

#include "api/look.h"
#include "controllers/paddle_job/pod_facts.h"

namespace paddle::controllers {
namespace {

using namespace std::chrono_literals;

std::vector<Json> all(kube::FakeCluster& server, const kube::Resource& resource) {
  std::vector<Json> objects;
  EXPECT_TRUE(server.list(resource, {}, [&](std::string_view text) -> Result<> {
    TRY(Json object, api::parse_json(text));
    objects.push_back(std::move(object));
    return Done{};
  }));
  return objects;
}

}  // namespace

Kubelet::Kubelet(kube::FakeCluster& server, Ends ends)
    : server_(server), ends_(std::move(ends)), thread_([this](std::stop_token stop) {
        while (system_clock().sleep(2ms, stop)) look();
      }) {}

void Kubelet::look() {
  for (const Json& pod : all(server_, kinds::kPods)) tend(pod);
}

void Kubelet::tend(const Json& object) {
  const api::Pod pod = *api::decode_pod(object);
  const std::string& name = pod.meta.key.name;
  if (pod.ip.empty()) {
    const auto next = std::to_string(addresses_.size() + 1);
    const auto& ip = addresses_.try_emplace(pod.meta.uid, "10.0.0." + next).first->second;
    return set(name, {{"phase", "Pending"}, {"podIP", ip}});
  }
  if (ended(pod)) return;
  const auto epoch = epoch_of(pod.meta);
  if (pod.phase == api::PodPhase::kPending) {
    const bool coordinated = !api::look(object, "/spec/initContainers").is_null();
    const auto said = pod.meta.annotations.find(kReleaseAnnotation);
    const std::string awaited = std::to_string(epoch) + "/" + pod.ip;
    if (coordinated && (said == pod.meta.annotations.end() || said->second != awaited)) return;
    // Released: then what it needs to know is there.
    EXPECT_TRUE(!coordinated || !all(server_, kinds::kConfigMaps).empty());
    return set(
        name,
        {{"phase", "Running"},
         {"containerStatuses",
          Json::array({Json{
              {"name", "main"}, {"ready", true}, {"state", {{"running", Json::object()}}}}})}});
  }
  const std::string end = ends_(name, static_cast<int>(epoch));
  if (end == "Running") return;
  const bool evicted = end == "Evicted";
  Json status = {{"phase", evicted ? "Failed" : end}};
  if (evicted) status["reason"] = end;
  if (end == "Failed") {
    status["containerStatuses"] =
        Json::array({Json{{"name", "main"}, {"state", {{"terminated", {{"exitCode", 3}}}}}}});
  }
  set(name, status);
}

void Kubelet::set(const std::string& name, const Json& status) {
  (void)server_.patch(kinds::kPods, {"train", name}, {.body = {{"status", status}}}, "status");
}

void PaddleJobReconcilerTest::create_job(const Json& spec, const std::string& name) {
  Json object = {{"apiVersion", api::PaddleJob::kApiVersion},
                 {"kind", api::PaddleJob::kKind},
                 {"metadata", {{"namespace", "train"}, {"name", name}}},
                 {"spec", {{"cleanPodPolicy", "Never"}, {"worker", {{"replicas", 2}}}}}};
  object["spec"].merge_patch(spec);
  for (const char* role : {"ps", "worker"}) {
    if (!object["spec"].contains(role)) continue;
    object["spec"][role]["template"]["spec"]["containers"] =
        Json::array({Json{{"name", "main"}, {"image", "paddle:3"}}});
  }
  ASSERT_TRUE(server.create(kinds::kPaddleJobs, object));
}

std::unique_ptr<Manager> PaddleJobReconcilerTest::make(kube::Cluster& cluster) {
  auto made = Manager::make(cluster, {.metrics_address = "0", .health_address = "0"}, metrics);
  EXPECT_TRUE(made);
  EXPECT_TRUE(
      (*made)->add({.name = kPaddleJobController, .workers = 4}, [&](const Surroundings& around) {
        return make_paddle_job_reconciler(around, options, system_clock());
      }));
  return *std::move(made);
}

Json PaddleJobReconcilerTest::job() {
  const auto found = server.get(kinds::kPaddleJobs, key);
  return found ? *found : Json(nullptr);
}

std::string PaddleJobReconcilerTest::phase() {
  const Json object = job();
  return object.is_null() ? "(gone)" : api::look_text(object, "/status/phase");
}

std::string PaddleJobReconcilerTest::reason(const char* type) {
  const Json object = job();
  const Json& conditions = api::look(object, "/status/conditions");
  if (!conditions.is_array()) return "";
  for (const Json& each : conditions) {
    if (api::look_text(each, "type") == type) return api::look_text(each, "reason");
  }
  return "";
}

std::set<std::string> PaddleJobReconcilerTest::names(const kube::Resource& resource) {
  std::set<std::string> found;
  for (const Json& object : all(server, resource)) {
    found.insert(api::look_text(object, "/metadata/name"));
  }
  return found;
}

size_t PaddleJobReconcilerTest::count(kube::Verb verb, const kube::Resource& resource,
                                      const std::string& sub) {
  size_t made = 0;
  for (const auto& request : server.requests()) {
    made += request.verb == verb && request.resource == resource && request.sub == sub ? 1 : 0;
  }
  return made;
}

bool PaddleJobReconcilerTest::told(const std::string& text) {
  for (const Json& event : all(server, kinds::kEvents)) {
    if (event.dump().find(text) != std::string::npos) return true;
  }
  return false;
}

void PaddleJobReconcilerTest::run_until(kube::Cluster& cluster, const Kubelet::Ends& ends,
                                        const std::function<bool()>& end) {
  auto manager = make(cluster);
  Kubelet kubelet(server, ends);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until(end);
  running.request_stop();
}

void PaddleJobReconcilerTest::run_to(kube::Cluster& cluster, const std::string& wanted,
                                     const std::string& last) {
  run_until(
      cluster, [&](const std::string&, int) { return last; }, [&] { return phase() == wanted; });
}

}  // namespace paddle::controllers
