// SPDX-License-Identifier: Apache-2.0
#include "test/integration/client_fixture.h"

#include "base/random.h"

namespace paddle::test {
namespace {

std::unique_ptr<ControlPlane> g_plane;
std::string g_problem;

class StopAtTheEnd final : public testing::Environment {
 public:
  void TearDown() override { g_plane.reset(); }
};
const auto* const kStop = testing::AddGlobalTestEnvironment(new StopAtTheEnd);

}  // namespace

ControlPlane* shared_control_plane() {
  if (!g_plane && g_problem.empty()) {
    auto started = ControlPlane::start();
    if (started) {
      g_plane = *std::move(started);
    } else {
      g_problem = started.error().message;
    }
  }
  return g_plane.get();
}

void ClientTest::SetUp() {
  plane_ = shared_control_plane();
  ASSERT_NE(plane_, nullptr) << g_problem;
  ns_ = "client-" + system_random().hex(8);
  const Json ns = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns_}}}};
  const auto made = client().create(kube::resources::kNamespaces, ns);
  ASSERT_TRUE(made) << why(made);
}

kube::Config ClientTest::config() const {
  return {.server = plane_->url(), .tls = {.ca_file = plane_->ca_path()}, .token = plane_->token()};
}

Json ClientTest::config_map(const std::string& name, const std::string& value) const {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"name", name}, {"namespace", ns_}}},
          {"data", {{"value", value}}}};
}

}  // namespace paddle::test
