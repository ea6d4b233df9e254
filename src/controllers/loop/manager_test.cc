// SPDX-License-Identifier: Apache-2.0
#include "controllers/loop/manager.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/loop/health.h"
#include "controllers/loop/sources.h"
#include "kube/fake/failing_cluster.h"
#include "kube/fake/fake_cluster.h"
#include "test/support/until.h"

namespace paddle::controllers {
namespace {

using kube::Json;
using kube::resources::kConfigMaps;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct Map {
  api::Meta meta{};
};
const kube::Projection<Map> kMaps{"meta", [](const Json& object) -> Result<Map> {
                                    TRY(Map map, [&]() -> Result<Map> {
                                      TRY(api::Meta meta, api::decode_meta(object));
                                      return Map{std::move(meta)};
                                    }());
                                    return map;
                                  }};

using test::until;

Json config_map(const std::string& name) {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"namespace", "ns"}, {"name", name}}}};
}

struct ManagerTest : ::testing::Test {
  kube::FakeCluster server{};
  Metrics metrics{};
  std::atomic<int> passes{0};

  ManagerOptions options{
      .metrics_address = "127.0.0.1:0",
      .health_address = "127.0.0.1:0",
      .leader_elect = true,
      .lease_namespace = "paddle-system",
      .lease = {.lease = seconds{60}, .renew_deadline = seconds{50}, .retry = milliseconds{20}}};

  std::unique_ptr<Manager> make(kube::Cluster& cluster) {
    auto made = Manager::make(cluster, options, metrics);
    EXPECT_TRUE(made) << made.error().message;
    return *std::move(made);
  }
  // Adds a label to every map, once, through the given cluster.
  Result<> add_labeller(Manager& manager, const std::string& lease = "test.paddlepaddle.org") {
    return manager.add(
        {.name = "labeller", .lease = lease}, [this](const ControllerContext& around) {
          auto maps = around.informers.of(kConfigMaps, {}, kMaps);
          for_kind(maps, around.queue);
          return [this, maps, &cluster = around.cluster, &events = around.events](
                     const ObjectKey& key, std::stop_token stop) -> Result<ReconcileResult> {
            ++passes;
            const auto map = maps.find(key);
            if (!map || map->meta.labels.contains("seen")) return ReconcileResult{};
            TRY(const Json written,
                cluster.patch(kConfigMaps, key,
                              {.body = {{"metadata",
                                         {{"resourceVersion", map->meta.resource_version},
                                          {"labels", {{"seen", "yes"}}}}}}},
                              {}, {.stop = stop}));
            maps.acknowledge(written);
            events.event(kube::ref_of(written), kube::EventKind::kNormal, "Labelled", "seen");
            return ReconcileResult{};
          };
        });
  }
  bool labelled(const std::string& name) {
    const auto map = server.get(kConfigMaps, {"ns", name});
    return map && (*map)["metadata"].contains("labels");
  }
};

TEST_F(ManagerTest, ReconcilesExistingAndNewObjects) {
  ASSERT_TRUE(server.create(kConfigMaps, config_map("early")));
  auto manager = make(server);
  ASSERT_TRUE(add_labeller(*manager));
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return labelled("early"); });
  ASSERT_TRUE(server.create(kConfigMaps, config_map("late")));
  until([&] { return labelled("late"); });
  EXPECT_TRUE(manager->ready());
  running.request_stop();
  running.join();
  EXPECT_FALSE(manager->ready());
  const auto lease =
      server.get(kube::resources::kLeases, {"paddle-system", "test.paddlepaddle.org"});
  ASSERT_TRUE(lease);
  EXPECT_EQ((*lease)["spec"]["holderIdentity"], "") << "not released";
  size_t events = 0;
  ASSERT_TRUE(server.list(kube::resources::kEvents, {}, [&](std::string_view) -> Result<> {
    ++events;
    return Done{};
  }));
  EXPECT_EQ(events, 2u);
}

TEST_F(ManagerTest, OnlyTheLeaderReconciles) {
  auto first = make(server), second = make(server);
  std::atomic<int> by_first{0}, by_second{0};
  const auto counting = [](std::atomic<int>& count) {
    return [&count](const ControllerContext& around) -> Reconcile {
      for_kind(around.informers.of(kConfigMaps, {}, kMaps), around.queue);
      return [&count](const ObjectKey&, std::stop_token) -> Result<ReconcileResult> {
        ++count;
        return ReconcileResult{};
      };
    };
  };
  ASSERT_TRUE(first->add({.name = "a", .lease = "l"}, counting(by_first)));
  ASSERT_TRUE(second->add({.name = "b", .lease = "l"}, counting(by_second)));
  ASSERT_TRUE(server.create(kConfigMaps, config_map("x")));
  std::jthread one([&](std::stop_token stop) { EXPECT_TRUE(first->run(stop)); });
  until([&] { return by_first == 1; });
  std::jthread two([&](std::stop_token stop) { EXPECT_TRUE(second->run(stop)); });
  until([&] { return second->ready(); });
  ASSERT_TRUE(server.create(kConfigMaps, config_map("y")));
  until([&] { return by_first == 2; });
  EXPECT_EQ(by_second, 0);
  one.request_stop();
  one.join();
  until([&] { return by_second == 2; });  // warm: it knows both without a new list
}

TEST_F(ManagerTest, AControllerWithoutALeaseRunsAtOnce) {
  auto manager = make(server);
  ASSERT_TRUE(add_labeller(*manager, ""));
  ASSERT_TRUE(server.create(kConfigMaps, config_map("a")));
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return labelled("a"); });
  for (const auto& request : server.requests()) EXPECT_NE(request.resource.kind, "Lease");
}

TEST_F(ManagerTest, AnIdleManagerOnlyRenewsItsLease) {
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(server.create(kConfigMaps, config_map("m" + std::to_string(i))));
  }
  auto manager = make(server);
  ASSERT_TRUE(add_labeller(*manager));
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return passes >= 40; });  // once for the object, once for our own label
  until([&] {
    size_t events = 0;
    EXPECT_TRUE(server.list(kube::resources::kEvents, {}, [&](std::string_view) -> Result<> {
      ++events;
      return Done{};
    }));
    return events == 20;
  });
  server.forget_requests();
  until([&] { return server.requests().size() >= 10; });
  for (const auto& request : server.requests()) {
    EXPECT_EQ(request.resource.kind, "Lease");
    EXPECT_EQ(request.verb, kube::Verb::kUpdate);
  }
}

TEST_F(ManagerTest, IsNotReadyBeforeItsInformersAre) {
  kube::FailingCluster network(server, [](const kube::Request& request, size_t) {
    return request.verb == kube::Verb::kList ? std::optional(kube::Fault{}) : std::nullopt;
  });
  auto manager = make(network);
  ASSERT_TRUE(add_labeller(*manager));
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return network.injected() >= 2; });
  EXPECT_FALSE(manager->ready());
  EXPECT_TRUE(manager->health_address());
  network.set_policy(kube::faults::none());
  until([&] { return manager->ready(); });
}

TEST_F(ManagerTest, APassThatDoesNotFinishIsCancelledAndThenReported) {
  options.drain_limit = milliseconds{1};
  options.cancel_limit = milliseconds{1};
  std::atomic<bool> inside{false}, leave{false};
  auto manager = make(server);
  ASSERT_TRUE(manager->add({.name = "stubborn"}, [&](const ControllerContext& around) -> Reconcile {
    around.queue.add({"ns", "a"});
    return [&](const ObjectKey&, std::stop_token) -> Result<ReconcileResult> {
      inside = true;
      until([&] { return leave.load(); });
      return ReconcileResult{};
    };
  }));
  std::stop_source stop;
  Result<> ended = Done{};
  std::jthread running([&] { ended = manager->run(stop.get_token()); });
  until([&] { return inside.load(); });
  stop.request_stop();
  running.join();
  EXPECT_TRUE(ended.is(Code::kDeadline));
  leave = true;
}

TEST_F(ManagerTest, InvalidOptionsAreRejected) {
  const auto refused = [&](const ManagerOptions& bad) {
    return Manager::make(server, bad, metrics).is(Code::kInvalid);
  };
  EXPECT_TRUE(refused({.metrics_address = "nonsense"}));
  EXPECT_TRUE(refused({.health_address = ":http"}));
  EXPECT_TRUE(refused({.leader_elect = true}));
  EXPECT_TRUE(
      refused({.leader_elect = true, .lease_namespace = "x", .lease = {.retry = seconds{60}}}));
  EXPECT_FALSE(refused({.metrics_address = "0", .health_address = ""}));
}

TEST_F(ManagerTest, IsNotAliveWhileAPassDoesNotEnd) {
  ManualClock clock;
  options.leader_elect = false;
  auto made = Manager::make(server, options, metrics, clock);
  ASSERT_TRUE(made);
  Manager& manager = **made;
  std::atomic<bool> begun{false}, ends{false};
  ASSERT_TRUE(manager.add({.name = "slow"}, [&](const ControllerContext& context) {
    context.queue.add({"ns", "a"});
    return [&](const ObjectKey&, std::stop_token) -> Result<ReconcileResult> {
      begun = true;
      until([&] { return ends.load(); });
      return ReconcileResult{};
    };
  }));
  EXPECT_TRUE(manager.alive());
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager.run(stop)); });
  until([&] { return begun.load(); });
  clock.advance(kStuckAfter);
  EXPECT_FALSE(manager.alive());
  ends = true;
  until([&] { return manager.alive(); });
}

}  // namespace
}  // namespace paddle::controllers
