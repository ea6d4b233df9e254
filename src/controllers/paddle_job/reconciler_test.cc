// SPDX-License-Identifier: Apache-2.0
//
// The reconciler over FakeCluster with a stand-in for the kubelet; once with calls that fail, get
// lost and are repeated.

#include "controllers/paddle_job/reconciler.h"

#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/sync.h"
#include "controllers/paddle_job/names.h"
#include "kube/fake/failing_cluster.h"
#include "kube/fake/fake_cluster.h"

namespace paddle::controllers {
namespace {

using namespace std::chrono_literals;
using kube::Json;
using kube::ObjectKey;
namespace kinds = kube::resources;

template <typename Condition>
void until(const Condition& condition) {
  while (!condition()) system_clock().sleep(2ms, {});
}

// Gives each new pod an address, and lets those that are released run to their end.
class Kubelet {
 public:
  Kubelet(kube::FakeCluster& server, std::string last_phase)
      : server_(server), last_phase_(std::move(last_phase)), thread_([this](std::stop_token stop) {
          while (system_clock().sleep(2ms, stop)) look();
        }) {}

 private:
  void look() {
    std::vector<Json> pods;
    EXPECT_TRUE(server_.list(kinds::kPods, {}, [&](std::string_view text) -> Result<> {
      TRY(Json pod, api::parse_json(text));
      pods.push_back(std::move(pod));
      return Done{};
    }));
    for (const Json& pod : pods) tend(pod);
  }
  void tend(const Json& pod) {
    const std::string name = pod["metadata"]["name"];
    const std::string ip = "10.0.0." + std::to_string(1 + name.back() - '0');
    const Json status = pod.value("status", Json::object());
    const std::string phase = status.value("phase", "");
    if (!status.contains("podIP")) return set(name, {{"phase", "Pending"}, {"podIP", ip}});
    const Json annotations = pod["metadata"].value("annotations", Json::object());
    if (annotations.value(kReleaseAnnotation, "") != "0/" + ip) return;
    // Released: then what it needs to know is there.
    EXPECT_TRUE(server_.get(kinds::kConfigMaps, {"train", "resnet"}));
    if (phase == "Pending") {
      return set(
          name,
          {{"phase", "Running"},
           {"containerStatuses",
            Json::array({Json{
                {"name", "main"}, {"ready", true}, {"state", {{"running", Json::object()}}}}})}});
    }
    if (phase == "Running") set(name, {{"phase", last_phase_}});
  }
  void set(const std::string& name, const Json& status) {
    (void)server_.patch(kinds::kPods, {"train", name}, {.body = {{"status", status}}}, "status");
  }

  kube::FakeCluster& server_;
  const std::string last_phase_;
  std::jthread thread_;
};

struct PaddleJobReconcilerTest : ::testing::Test {
  kube::FakeCluster server{};
  Metrics metrics{};
  const ObjectKey key{"train", "resnet"};

  void create_job(int workers, const std::string& policy = "Never") {
    ASSERT_TRUE(server.create(
        kinds::kPaddleJobs,
        {{"apiVersion", api::PaddleJob::kApiVersion},
         {"kind", api::PaddleJob::kKind},
         {"metadata", {{"namespace", "train"}, {"name", "resnet"}}},
         {"spec",
          {{"cleanPodPolicy", policy},
           {"worker",
            {{"replicas", workers},
             {"template",
              {{"spec",
                {{"containers",
                  Json::array({Json{{"name", "main"}, {"image", "paddle:3"}}})}}}}}}}}}}));
  }
  std::unique_ptr<Manager> make(kube::Cluster& cluster) {
    auto made = Manager::make(cluster, {.metrics_address = "0", .health_address = "0"}, metrics);
    EXPECT_TRUE(made);
    EXPECT_TRUE((*made)->add({.name = kPaddleJobController}, [&](const Surroundings& around) {
      return make_paddle_job_reconciler(around, {}, system_clock());
    }));
    return *std::move(made);
  }
  std::string phase() {
    const auto job = server.get(kinds::kPaddleJobs, key);
    return job ? job->value("/status/phase"_json_pointer, std::string()) : "(gone)";
  }
  size_t pods() {
    size_t found = 0;
    EXPECT_TRUE(server.list(kinds::kPods, {}, [&](std::string_view) -> Result<> {
      ++found;
      return Done{};
    }));
    return found;
  }
  // No pod may be made twice, whatever goes wrong.
  size_t pods_ever_made() {
    size_t made = 0;
    for (const auto& request : server.requests()) {
      if (request.verb == kube::Verb::kCreate && request.resource == kinds::kPods) ++made;
    }
    return made;
  }
  void run_to(kube::Cluster& cluster, const std::string& end,
              const std::string& last = "Succeeded") {
    auto manager = make(cluster);
    Kubelet kubelet(server, last);
    std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
    until([&] { return phase() == end; });
    running.request_stop();
  }
};

TEST_F(PaddleJobReconcilerTest, RunsACollectiveJobToItsEnd) {
  create_job(3);
  run_to(server, "Completed");
  EXPECT_EQ(pods(), 3u);
  EXPECT_EQ(pods_ever_made(), 3u);
  const auto map = server.get(kinds::kConfigMaps, key);
  ASSERT_TRUE(map);
  EXPECT_EQ((*map)["data"]["PADDLE_TRAINER_ENDPOINTS"],
            "10.0.0.1:36000,10.0.0.2:36000,10.0.0.3:36000");
}

TEST_F(PaddleJobReconcilerTest, RunsASingleWorker) {
  create_job(1);
  run_to(server, "Completed");
  EXPECT_EQ((*server.get(kinds::kPaddleJobs, key))["status"]["mode"], "Single");
}

TEST_F(PaddleJobReconcilerTest, AFailedWorkerFailsTheJob) {
  create_job(2);
  run_to(server, "Failed", "Failed");
}

TEST_F(PaddleJobReconcilerTest, CleansUpAsThePolicySays) {
  create_job(2, "Always");
  auto manager = make(server);
  Kubelet kubelet(server, "Succeeded");
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return phase() == "Completed" && pods() == 0; });
  running.request_stop();
}

TEST_F(PaddleJobReconcilerTest, EndsWellWhenEveryCallFailsOnce) {
  create_job(3);
  kube::FailingCluster failing(server, kube::faults::each_once({}));
  run_to(failing, "Completed");
  EXPECT_EQ(pods(), 3u);
  EXPECT_GT(failing.injected(), 5u);
}

TEST_F(PaddleJobReconcilerTest, EndsWellWhenAnswersAreLostAndRequestsRepeated) {
  create_job(3);
  kube::FailingCluster failing(server, kube::faults::random(11, 0.2));
  run_to(failing, "Completed");
  EXPECT_EQ(pods(), 3u);
}

TEST_F(PaddleJobReconcilerTest, AConfigMapOfSomebodyElseIsLeftAlone) {
  ASSERT_TRUE(
      server.create(kinds::kConfigMaps, {{"apiVersion", "v1"},
                                         {"kind", "ConfigMap"},
                                         {"metadata", {{"namespace", "train"}, {"name", "resnet"}}},
                                         {"data", {{"a", "b"}}}}));
  create_job(2);
  auto manager = make(server);
  Kubelet kubelet(server, "Succeeded");
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] {
    bool told = false;
    EXPECT_TRUE(server.list(kinds::kEvents, {}, [&](std::string_view text) -> Result<> {
      told |= text.find("NameTaken") != std::string_view::npos;
      return Done{};
    }));
    return told;
  });
  EXPECT_EQ((*server.get(kinds::kConfigMaps, key))["data"].size(), 1u);
  running.request_stop();
}

}  // namespace
}  // namespace paddle::controllers
