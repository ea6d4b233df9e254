// SPDX-License-Identifier: Apache-2.0
//
// A control plane of its own for each test, and a client for it as admin.

#pragma once

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "kube/client/client.h"
#include "kube/client/load_config.h"
#include "test/support/control_plane.h"
#include "test/support/eventually.h"

namespace paddle::test {

class ControlPlaneTest : public testing::Test {
 protected:
  explicit ControlPlaneTest(ControlPlaneOptions options = {},
                            kube::ClientOptions client_options = {})
      : options_(std::move(options)), client_options_(std::move(client_options)) {}

  void SetUp() override {
    auto started = ControlPlane::start(options_);
    ASSERT_TRUE(started) << started.error().message;
    plane = *std::move(started);
    client = make_client(client_options_);
    ASSERT_TRUE(client);
  }

  std::unique_ptr<kube::Client> make_client(kube::ClientOptions options) const {
    auto config = kube::load_config({.path = plane->kubeconfig()}, {});
    EXPECT_TRUE(config) << config.error().message;
    if (!config) return nullptr;
    return std::make_unique<kube::Client>(*std::move(config), std::move(options));
  }

  // Applies deploy/v1/crd.yaml below `source_dir` and waits until the server serves the resources.
  void install_crds(const std::string& source_dir) const {
    const auto applied = plane->kubectl({"apply", "-f", source_dir + "/deploy/v1/crd.yaml"});
    ASSERT_EQ(applied.exit_code, 0) << applied.err;
    wait_for_crds();
  }
  void wait_for_crds() const {
    ASSERT_TRUE(eventually([&] {
      return plane->kubectl({"get", "paddlejobs,samplesets,samplejobs"}).exit_code == 0;
    }));
  }

  std::unique_ptr<ControlPlane> plane{};
  std::unique_ptr<kube::Client> client{};

 private:
  const ControlPlaneOptions options_;
  const kube::ClientOptions client_options_;
};

}  // namespace paddle::test
