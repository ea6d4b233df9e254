// SPDX-License-Identifier: Apache-2.0
//
// The controllers over a fake cluster, also with one failure of every request: they converge and
// create nothing twice.

#include "local/cluster/cluster_controllers.h"

#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kube/fake/failing_cluster.h"
#include "kube/fake/fake_cluster.h"

namespace paddle::local {
namespace {

using api::Json;
using Pointer = Json::json_pointer;
namespace kinds = kube::resources;

enum class Weather { kFair, kRefused, kLost };

class ClusterControllersTest : public testing::TestWithParam<Weather> {
 protected:
  void SetUp() override {
    if (GetParam() != Weather::kFair) {
      failing_.set_policy(kube::faults::each_once({.kind = GetParam() == Weather::kRefused
                                                               ? kube::Fault::Kind::kRefuse
                                                               : kube::Fault::Kind::kLose}));
    }
    manager_ = *controllers::Manager::make(failing_,
                                           {.metrics_address = "0",
                                            .health_address = "0",
                                            .pace = {.first_pause = std::chrono::milliseconds{1}}},
                                           metrics_);
    ASSERT_TRUE(add_cluster_controllers(*manager_));
    put(kinds::kNodes, {{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", "local"}}}});
    ASSERT_TRUE(server_.patch(
        kinds::kNodes, {"", "local"},
        {.body = {{"status",
                   {{"conditions", Json::array({Json{{"type", "Ready"}, {"status", "True"}}})}}}}},
        "status"));
    thread_ = std::jthread([this](std::stop_token stop) { EXPECT_TRUE(manager_->run(stop)); });
  }
  void TearDown() override { thread_ = {}; }

  void put(const kube::Resource& resource, const Json& object) {
    const auto made = server_.create(resource, object);
    ASSERT_TRUE(made) << made.error().message;
  }
  std::string at(const kube::Resource& resource, const api::ObjectKey& key, const char* pointer) {
    const auto found = server_.get(resource, key);
    if (!found || !found->contains(Pointer(pointer))) return "";
    const Json& value = found->at(Pointer(pointer));
    return value.is_string() ? value.get<std::string>() : value.dump();
  }
  template <typename Condition>
  static void until(const Condition& condition) {
    while (!condition()) system_clock().sleep(std::chrono::milliseconds{1}, {});
  }

  kube::FakeCluster server_{};
  kube::FailingCluster failing_{server_, kube::faults::none()};
  Metrics metrics_{};
  std::unique_ptr<controllers::Manager> manager_{};
  std::jthread thread_{};
};

TEST_P(ClusterControllersTest, AStatefulSetGetsItsPodsAndThePodsTheirNode) {
  put(kinds::kStatefulSets,
      {{"apiVersion", "apps/v1"},
       {"kind", "StatefulSet"},
       {"metadata", {{"name", "web"}, {"namespace", "n"}}},
       {"spec",
        {{"replicas", 3},
         {"podManagementPolicy", "Parallel"},
         {"template", {{"spec", {{"containers", Json::array({Json{{"name", "c"}}})}}}}}}}});
  for (const char* name : {"web-0", "web-1", "web-2"}) {
    until([&] { return at(kinds::kPods, {"n", name}, "/spec/nodeName") == "local"; });
  }
  until([&] { return at(kinds::kStatefulSets, {"n", "web"}, "/status/replicas") == "3"; });
}

TEST_P(ClusterControllersTest, APodGetsItsNodeWhenItsSchedulingGateIsRemoved) {
  put(kinds::kPods, {{"apiVersion", "v1"},
                     {"kind", "Pod"},
                     {"metadata", {{"name", "p"}, {"namespace", "n"}}},
                     {"spec",
                      {{"schedulingGates", Json::array({Json{{"name", "x/data"}}})},
                       {"containers", Json::array({Json{{"name", "c"}, {"image", "x"}}})}}}});
  until([&] {
    return at(kinds::kPods, {"n", "p"}, "/status/conditions/0/reason") == "SchedulingGated";
  });
  EXPECT_EQ(at(kinds::kPods, {"n", "p"}, "/spec/nodeName"), "");
  ASSERT_TRUE(server_.patch(kinds::kPods, {"n", "p"},
                            {.body = {{"spec", {{"schedulingGates", Json::array()}}}}}));
  until([&] { return at(kinds::kPods, {"n", "p"}, "/spec/nodeName") == "local"; });
}

TEST_P(ClusterControllersTest, AClaimAndItsVolumeAreBound) {
  put(kinds::kPersistentVolumes, {{"apiVersion", "v1"},
                                  {"kind", "PersistentVolume"},
                                  {"metadata", {{"name", "v"}}},
                                  {"spec",
                                   {{"capacity", {{"storage", "1Gi"}}},
                                    {"accessModes", Json::array({"ReadOnlyMany"})},
                                    {"claimRef", {{"namespace", "n"}, {"name", "c"}}}}}});
  put(kinds::kClaims, {{"apiVersion", "v1"},
                       {"kind", "PersistentVolumeClaim"},
                       {"metadata", {{"name", "c"}, {"namespace", "n"}}},
                       {"spec", {{"volumeName", "v"}}}});
  until([&] { return at(kinds::kClaims, {"n", "c"}, "/status/phase") == "Bound"; });
  EXPECT_EQ(at(kinds::kPersistentVolumes, {"", "v"}, "/spec/claimRef/uid"),
            at(kinds::kClaims, {"n", "c"}, "/metadata/uid"));
  EXPECT_EQ(at(kinds::kClaims, {"n", "c"}, "/status/capacity/storage"), "1Gi");
  ASSERT_TRUE(server_.remove(kinds::kClaims, {"n", "c"}));
  until([&] { return at(kinds::kPersistentVolumes, {"", "v"}, "/status/phase") == "Released"; });
}

INSTANTIATE_TEST_SUITE_P(AnyWeather, ClusterControllersTest,
                         testing::Values(Weather::kFair, Weather::kRefused, Weather::kLost));

}  // namespace
}  // namespace paddle::local
