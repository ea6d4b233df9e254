// SPDX-License-Identifier: Apache-2.0
// The contract of kube/cluster.h, tested with the real client and the embedded API server.

#include "kube/client/client.h"
#include "kube/fake/cluster_suite.h"
#include "local/api_server/server.h"
#include "test/support/scratch_dir.h"

namespace paddle::local {
namespace {

// One server for all tests of the suite: each works in its own namespace.
ApiServer* shared_server() {
  static const test::ScratchDir kScratch;
  static const auto kServer = ApiServer::start({.directory = kScratch.path() + "/data"});
  EXPECT_TRUE(kServer) << (kServer ? "" : kServer.error().message);
  return kServer ? kServer->get() : nullptr;
}

kube::SuiteTarget embedded_server() {
  return {
      .name = "embedded",
      .make = []() -> std::unique_ptr<kube::Cluster> {
        const auto* server = shared_server();
        if (!server) return nullptr;
        return std::make_unique<kube::Client>(kube::Config{.server = server->url(),
                                                           .tls = {.ca_pem = server->certificate()},
                                                           .proxy = "",
                                                           .token = server->token()});
      },
      .serves_paddle_jobs = true,
      .compact = [](kube::Cluster&) { EXPECT_TRUE(shared_server()->compact()); }};
}

}  // namespace
}  // namespace paddle::local

namespace paddle::kube {
namespace {

INSTANTIATE_TEST_SUITE_P(Local, ClusterSuite, testing::Values(local::embedded_server()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace paddle::kube
