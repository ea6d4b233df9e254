// SPDX-License-Identifier: Apache-2.0
//
// A manager with nothing to do, on a real API server with 1,000 objects: the audit log shows
// renewals of its lease and of its watches, and nothing else. Also that kubectl describe shows its
// events.

#include <map>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/loop/manager.h"
#include "controllers/loop/sources.h"
#include "test/integration/audit_log.h"
#include "test/integration/control_plane_fixture.h"
#include "test/support/eventually.h"

namespace paddle::test {
namespace {

using controllers::ReconcileResult;
using kube::Json;
using std::chrono::seconds;
namespace resources = kube::resources;

struct Object {
  api::Meta meta{};
};
const kube::Projection<Object> kMeta{"meta", [](const Json& object) -> Result<Object> {
                                       auto meta = api::decode_meta(object);
                                       if (!meta) return std::move(meta).error();
                                       return Object{*std::move(meta)};
                                     }};

class ManagerIdle : public ControlPlaneTest {
 protected:
  ManagerIdle() : ControlPlaneTest({.audit = true}, {.user_agent = "setup"}) {}

  Metrics metrics{};
};

TEST_F(ManagerIdle, MakesNoRequestButRenewalsOfItsLeaseAndWatches) {
  constexpr size_t kObjects = 1000;
  for (size_t i = 0; i < kObjects; ++i) {
    const Json map{{"apiVersion", "v1"},
                   {"kind", "ConfigMap"},
                   {"metadata", {{"namespace", "default"}, {"name", "m-" + std::to_string(i)}}}};
    const auto made = client->create(resources::kConfigMaps, map);
    ASSERT_TRUE(made) << made.error().message;
  }
  const auto managed = make_client({.user_agent = "idle-manager", .metrics = &metrics});
  ASSERT_TRUE(managed);
  auto manager = controllers::Manager::make(
      *managed,
      {.metrics_address = "127.0.0.1:0",
       .health_address = "127.0.0.1:0",
       .leader_elect = true,
       .lease_namespace = "default",
       .lease = {.lease = seconds{30}, .renew_deadline = seconds{20}, .retry = seconds{1}},
       .pace = {.shortest_watch = seconds{4}, .longest_watch = seconds{6}}},
      metrics);
  ASSERT_TRUE(manager) << manager.error().message;
  std::atomic<size_t> passes{0};
  ASSERT_TRUE((*manager)->add(
      {.name = "idle", .lease = "idle.paddlepaddle.org", .workers = 2},
      [&](const controllers::ControllerContext& around) -> controllers::Reconcile {
        controllers::for_kind(around.informers.of(resources::kConfigMaps, {}, kMeta), around.queue);
        for (const auto& kind : {resources::kPods, resources::kServices, resources::kSecrets}) {
          controllers::owns(around.informers.of(kind, {}, kMeta), resources::kConfigMaps,
                            around.queue);
        }
        return [&](const api::ObjectKey&, std::stop_token) -> Result<ReconcileResult> {
          ++passes;
          return ReconcileResult{};
        };
      }));
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE((*manager)->run(stop)); });
  ASSERT_TRUE(eventually([&] { return passes >= kObjects; }, seconds{120}));

  const WallTime quiet_since = system_clock().wall();
  system_clock().sleep(seconds{20}, {});  // the length of the observation, not an expectation
  const WallTime quiet_until = system_clock().wall();
  running.request_stop();
  running.join();

  std::map<std::string, int> seen;
  AuditLog audit(plane->audit_log(), "idle-manager");
  for (const auto& line : audit.lines()) {
    if (line.received < quiet_since || line.received > quiet_until) continue;
    ++seen[line.verb + " " + line.resource];
    const bool renewal = line.verb == "update" && line.resource == "leases";
    EXPECT_TRUE(renewal || line.verb == "watch") << line.verb << " " << line.uri;
  }
  for (const auto& [what, times] : seen)
    std::cout << "idle 20 s: " << what << " x" << times << "\n";
  EXPECT_GT(seen["update leases"], 5);
  for (const char* kind : {"configmaps", "pods", "services", "secrets"}) {
    EXPECT_GT(seen["watch " + std::string(kind)], 1) << "its watch was not renewed";
  }
}

TEST_F(ManagerIdle, DescribeShowsEventsWithTheirCount) {
  ASSERT_EQ(plane->kubectl({"create", "configmap", "subject"}).exit_code, 0);
  auto map = client->get(resources::kConfigMaps, {"default", "subject"});
  ASSERT_TRUE(map) << map.error().message;
  kube::EventRecorder recorder(*client, "paddlejob-controller", system_clock(), metrics);
  for (int i = 0; i < 3; ++i) {
    recorder.event(kube::ref_of(*map), kube::EventKind::kWarning, "ProbeHappened",
                   "three times the same 飞桨 message");
    ASSERT_TRUE(recorder.flush(seconds{60}));
  }
  const auto described = plane->kubectl({"describe", "configmap", "subject"});
  EXPECT_EQ(described.exit_code, 0) << described.err;
  EXPECT_NE(described.out.find("ProbeHappened"), std::string::npos) << described.out;
  EXPECT_NE(described.out.find("x3"), std::string::npos) << described.out;
  EXPECT_NE(described.out.find("paddlejob-controller"), std::string::npos) << described.out;
  EXPECT_NE(described.out.find("飞桨"), std::string::npos) << described.out;
}

}  // namespace
}  // namespace paddle::test
