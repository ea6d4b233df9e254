// SPDX-License-Identifier: Apache-2.0
// PaddleJobs on a real API server under all kinds of faults: every call fails once in every way,
// responses are lost, requests arrive twice, and the operator is killed. Jobs always end as
// expected, and no pod is created twice.

#include <csignal>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "controllers/paddle_job/reconciler.h"
#include "kube/fake/failing_cluster.h"
#include "test/integration/control_plane_fixture.h"
#include "test/support/eventually.h"
#include "test/support/fake_kubelet.h"
#include "test/support/keeper.h"

namespace paddle::test {
namespace {

using namespace std::chrono_literals;
using kube::Json;
namespace kinds = kube::resources;

class PaddleJobFaults : public ControlPlaneTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(ControlPlaneTest::SetUp());
    ASSERT_NO_FATAL_FAILURE(install_crds(PADDLE_SOURCE_DIR));
  }

  void create(const std::string& name, const Json& spec) {
    Json object = {{"apiVersion", "batch.paddlepaddle.org/v1"},
                   {"kind", "PaddleJob"},
                   {"metadata", {{"namespace", "default"}, {"name", name}}},
                   {"spec", {{"cleanPodPolicy", "Never"}}}};
    object["spec"].merge_patch(spec);
    for (const char* role : {"ps", "worker"}) {
      if (!object["spec"].contains(role)) continue;
      object["spec"][role]["template"]["spec"]["containers"] =
          Json::array({Json{{"name", "main"}, {"image", "paddle:3"}}});
    }
    const auto made = client->create(kinds::kPaddleJobs, object);
    ASSERT_TRUE(made) << made.error().message;
  }
  void create_all(const std::string& prefix) {
    create(prefix + "-ps", {{"ps", {{"replicas", 2}}}, {"worker", {{"replicas", 2}}}});
    create(prefix + "-svc", {{"intranet", "Service"}, {"worker", {{"replicas", 3}}}});
    create(prefix + "-host", {{"intranet", "Host"}, {"worker", {{"replicas", 2}}}});
    create(prefix + "-retry", {{"backoffLimit", 1}, {"worker", {{"replicas", 2}}}});
  }
  // Workers of -retry fail in their first run; servers run until they are stopped.
  static std::string ends(const std::string& pod, int epoch) {
    if (pod.find("-ps-") != std::string::npos && pod.find("-ps-ps-") != std::string::npos) {
      return "Running";
    }
    return epoch == 0 && pod.find("-retry-") != std::string::npos ? "Failed" : "Succeeded";
  }
  bool all_completed(const std::string& prefix) {
    for (const char* kind : {"-ps", "-svc", "-host", "-retry"}) {
      const auto job = client->get(kinds::kPaddleJobs, {"default", prefix + kind});
      if (!job || job->value("/status/phase"_json_pointer, "") != "Completed") return false;
    }
    return true;
  }
  size_t count(const kube::Resource& resource, const std::string& selector) {
    size_t found = 0;
    EXPECT_TRUE(client->list(resource, {.ns = "default", .label_selector = selector},
                             [&](std::string_view) -> Result<> {
                               ++found;
                               return Done{};
                             }));
    return found;
  }
  void expect_no_more_than_needed(const std::string& prefix) {
    const auto of = [&](const char* job) {
      return "batch.paddlepaddle.org/job-name=" + prefix + job;
    };
    EXPECT_TRUE(eventually([&] { return count(kinds::kPods, of("-ps")) == 2; }))  // no servers
        << plane->kubectl({"get", "pdj,pods", "-o", "yaml", "-l", of("-ps")}).out
        << plane->kubectl({"get", "pdj", prefix + "-ps", "-o", "yaml"}).out;
    EXPECT_EQ(count(kinds::kPods, of("-svc")), 3u);
    EXPECT_EQ(count(kinds::kServices, of("-svc")), 3u);
    EXPECT_EQ(count(kinds::kPods, of("-host")), 2u);
    EXPECT_EQ(count(kinds::kPods, of("-retry")), 2u);
    const auto retried = client->get(kinds::kPaddleJobs, {"default", prefix + "-retry"});
    ASSERT_TRUE(retried);
    EXPECT_EQ((*retried)["status"]["epoch"], 1);
    EXPECT_EQ((*retried)["status"]["failures"], 1);
  }
  // The controller in this process, over calls that fail.
  void run(const std::string& prefix, kube::FaultPolicy faults, size_t at_least) {
    create_all(prefix);
    kube::FailingCluster failing(*client, std::move(faults));
    Metrics metrics;
    auto manager = controllers::Manager::make(
        failing, {.metrics_address = "0", .health_address = "0"}, metrics);
    ASSERT_TRUE(manager);
    ASSERT_TRUE((*manager)->add({.name = controllers::paddle_job::kControllerName, .workers = 4},
                                [&](const controllers::ControllerContext& around) {
                                  return controllers::paddle_job::make_reconciler(around, {},
                                                                                  system_clock());
                                }));
    FakeKubelet kubelet(*client, "default", ends, 20ms);
    std::jthread running([&](std::stop_token stop) { EXPECT_TRUE((*manager)->run(stop)); });
    EXPECT_TRUE(eventually([&] { return all_completed(prefix); }, 400s))
        << prefix << plane->kubectl({"get", "pdj,pods", "-o", "yaml"}).out;
    expect_no_more_than_needed(prefix);
    EXPECT_GE(failing.injected(), at_least);
    running.request_stop();
    running.join();
    EXPECT_EQ(kubelet.complaint(), "");
  }
};

TEST_F(PaddleJobFaults, EveryCallMayFailOnceInEveryWay) {
  using Kind = kube::Fault::Kind;
  run("gone", kube::faults::each_once({.kind = Kind::kRefuse, .code = Code::kUnavailable}), 20);
  run("late", kube::faults::each_once({.kind = Kind::kLose, .code = Code::kDeadline}), 20);
  run("torn", kube::faults::each_once({.kind = Kind::kRefuse, .code = Code::kConflict}), 20);
  run("full", kube::faults::each_once({.kind = Kind::kRefuse, .code = Code::kForbidden}), 20);
  run("twice", kube::faults::each_once({.kind = Kind::kRepeat}), 20);
}

TEST_F(PaddleJobFaults, CallsMayFailAtRandom) {
  for (const std::uint64_t seed : {1U, 2U}) {
    run("r" + std::to_string(seed), kube::faults::random(seed, 0.2), 10);
  }
}

TEST_F(PaddleJobFaults, TheOperatorMayBeKilledAtAnyTime) {
  Random random(7);
  FakeKubelet kubelet(*client, "default", ends, 20ms);
  const auto start = [&] {
    return plane->keeper().spawn(
        {.argv = {PADDLE_OPERATOR, "--kubeconfig=" + plane->kubeconfig(), "--controllers=paddlejob",
                  "--metrics-bind-address=0", "--health-probe-bind-address=0"},
         .env = {"HOME=/nonexistent"},
         .log = plane->directory() + "/operator.log"});
  };
  create_all("killed");
  for (int life = 0; life < 12 && !all_completed("killed"); ++life) {
    const auto pid = start();
    ASSERT_TRUE(pid) << pid.error().message;
    system_clock().sleep(std::chrono::milliseconds{100 + random.below(300)}, {});
    ASSERT_TRUE(plane->keeper().signal(*pid, SIGKILL));
  }
  ASSERT_TRUE(start());
  EXPECT_TRUE(eventually([&] { return all_completed("killed"); }, 400s));
  expect_no_more_than_needed("killed");
}

}  // namespace
}  // namespace paddle::test
