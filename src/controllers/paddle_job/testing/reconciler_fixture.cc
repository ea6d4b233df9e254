// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/testing/reconciler_fixture.h"

#include "api/json/look.h"

namespace paddle::controllers::paddle_job {
namespace {

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
      (*made)->add({.name = kControllerName, .workers = 4}, [&](const ControllerContext& context) {
        return make_reconciler(context, options, system_clock());
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

bool PaddleJobReconcilerTest::has_event(const std::string& text) {
  for (const Json& event : all(server, kinds::kEvents)) {
    if (event.dump().find(text) != std::string::npos) return true;
  }
  return false;
}

void PaddleJobReconcilerTest::run_until(kube::Cluster& cluster, const Kubelet::Ends& ends,
                                        const std::function<bool()>& end) {
  auto manager = make(cluster);
  Kubelet kubelet(server, "train", ends);
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until(end);
  running.request_stop();
  running.join();
  EXPECT_EQ(kubelet.complaint(), "");
}

void PaddleJobReconcilerTest::run_to(kube::Cluster& cluster, const std::string& wanted,
                                     const std::string& last) {
  run_until(
      cluster, [&](const std::string&, int) { return last; }, [&] { return phase() == wanted; });
}

void OnePassTest::begin() {
  reconcile = make_reconciler({failing, informers, events, queue, metrics}, options, clock);
  informers.start();
  ASSERT_TRUE(informers.wait_until_synced({}));
  drain();
}

void OnePassTest::drain() {
  while (queue.depth() > 0) queue.finished(queue.take({})->key);
}

ReconcileResult OnePassTest::pass() {
  auto outcome = reconcile(key, {});
  EXPECT_TRUE(outcome);
  return outcome ? *outcome : ReconcileResult{};
}

OnePassTest::~OnePassTest() { informers.stop(); }

}  // namespace paddle::controllers::paddle_job
