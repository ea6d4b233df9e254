// SPDX-License-Identifier: Apache-2.0
//
// The suite that FakeCluster passes, over the real client and a real API server.
#include "kube/fake/cluster_suite.h"

#include "kube/client/client.h"
#include "test/support/control_plane.h"
#include "test/support/eventually.h"

namespace paddle::kube {
namespace {

// One control plane for all tests; it ends with the program.
test::ControlPlane* plane() {
  static const std::unique_ptr<test::ControlPlane> kShared = [] {
    // Without a watch cache for ConfigMaps, watches notice a compaction of etcd.
    auto started =
        test::ControlPlane::start({.api_server_flags = {"--watch-cache-sizes=configmaps#0"}});
    if (!started) {
      ADD_FAILURE() << started.error().message;
      return std::unique_ptr<test::ControlPlane>{};
    }
    const auto collecting = (*started)->start_controllers({"garbage-collector-controller"});
    EXPECT_TRUE(collecting) << collecting.error().message;
    const auto applied = (*started)->kubectl(
        {"apply", "--server-side", "-f", PADDLE_SOURCE_DIR "/deploy/v1/crd.yaml"});
    EXPECT_EQ(applied.exit_code, 0) << applied.err;
    EXPECT_TRUE(test::eventually([&] {
      return (*started)->kubectl({"get", "paddlejobs", "-A"}).exit_code == 0;
    }));
    return *std::move(started);
  }();
  return kShared.get();
}

Config config() {
  return {.server = plane()->url(),
          .tls = {.ca_file = plane()->ca_path()},
          .proxy = "",
          .token = plane()->token()};
}

INSTANTIATE_TEST_SUITE_P(
    RealApiServer, ClusterSuite,
    testing::Values(SuiteTarget{
        .name = "Client",
        .make = []() -> std::unique_ptr<Cluster> {
          return plane() ? std::make_unique<Client>(config()) : nullptr;
        },
        .serves_paddle_jobs = true,
        .collected = [](const std::function<bool()>& gone) { return test::eventually(gone); },
        .compact = [](Cluster&) { EXPECT_TRUE(plane()->compact_etcd()); }}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace paddle::kube
