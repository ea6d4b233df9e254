// SPDX-License-Identifier: Apache-2.0
//
// A complete machine for one test: embedded API server, client, cluster controllers and node, each
// of which can be stopped and started again with the same directory. The test program is its own
// `container-init` and runtime: machine_main.cc has main() of this folder's programs.

#pragma once

#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/loop/manager.h"
#include "kube/client/client.h"
#include "local/api_server/server.h"
#include "local/node/node.h"
#include "test/support/scratch_dir.h"

namespace paddle::local {

using api::Json;

class MachineTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  void start_node();
  void end_node() { node_.reset(); }

  std::string directory() const { return scratch_.path() + "/node"; }
  kube::Client& client() { return *client_; }

  // A pod of one container that runs the script.
  Json pod(const std::string& name, const std::string& script,
           const std::string& restart = "Never");
  // Adds a volume and mounts it in the first container.
  static void mount(Json& pod, const std::string& path, Json volume, const std::string& sub = "");
  Json create(const kube::Resource& resource, const Json& object);
  Json get(const kube::Resource& resource, const std::string& name);
  bool gone(const kube::Resource& resource, const std::string& name);
  std::string phase(const std::string& pod);
  // Waits for the phase; otherwise fails the test with the pod's status.
  void expect_phase(const std::string& pod, const std::string& wanted);
  // What `kubectl logs` shows, with the query as kubectl writes it: "tailLines=1".
  std::string logs(const std::string& pod, const std::string& query = "");

  test::ScratchDir scratch_{};
  Metrics metrics_{};
  std::unique_ptr<ApiServer> server_{};
  std::unique_ptr<kube::Client> client_{};
  std::unique_ptr<controllers::Manager> manager_{};
  std::unique_ptr<Node> node_{};
  std::jthread duties_{};
};

// A volume and a claim of our driver that name each other.
Json sample_volume(const std::string& handle, const std::string& claim);
Json sample_claim(const std::string& name, const std::string& volume);
// A StatefulSet of one pod that serves the handle's samples: see machine_main.cc.
Json sample_runtime(const std::string& set, const std::string& handle);

}  // namespace paddle::local
