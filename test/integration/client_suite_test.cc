// SPDX-License-Identifier: Apache-2.0
//
// The promises of kube/cluster.h, asked of the real client and the real API server.

#include "kube/fake/cluster_suite.h"
#include "test/integration/client_fixture.h"

namespace paddle::kube {
namespace {

SuiteTarget real_server() {
  return {
      .name = "client", .make = []() -> std::unique_ptr<Cluster> {
        const auto* plane = test::shared_control_plane();
        if (!plane) return nullptr;
        return std::make_unique<Client>(Config{
            .server = plane->url(), .tls = {.ca_file = plane->ca_path()}, .token = plane->token()});
      }};
}

INSTANTIATE_TEST_SUITE_P(RealServer, ClusterSuite, testing::Values(real_server()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace paddle::kube
