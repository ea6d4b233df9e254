// SPDX-License-Identifier: Apache-2.0
#include "kube/leader/elector.h"

#include <atomic>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kube/fake/failing_cluster.h"
#include "kube/fake/fake_cluster.h"

namespace paddle::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const ObjectKey kLease{"paddle-system", "b2a304f2.paddlepaddle.org"};
const LeaseTiming kQuick{.lease = seconds{1},
                         .renew_deadline = milliseconds{600},
                         .retry = milliseconds{30},
                         .margin = milliseconds{100}};

// For tests that must not lose the lease on a slow machine.
const LeaseTiming kPatient{.lease = seconds{60},
                           .renew_deadline = seconds{50},
                           .retry = milliseconds{30},
                           .margin = seconds{1}};

// Returns when it is true; the test runner ends a test that waits in vain.
template <typename Condition>
void until(const Condition& condition) {
  while (!condition()) system_clock().sleep(milliseconds{2}, {});
}

struct ElectorTest : ::testing::Test {
  FakeCluster server{};
  Metrics metrics{};
  Random random{3};

  std::unique_ptr<Elector> elector(Cluster& cluster, const std::string& identity,
                                   const LeaseTiming& timing = kQuick) {
    auto made = Elector::make(cluster, {kLease, identity, timing}, system_clock(), random, metrics);
    EXPECT_TRUE(made);
    return *std::move(made);
  }
  LeaseRecord stored() {
    auto object = server.get(resources::kLeases, kLease);
    return object ? decode_lease(*object).operator*() : LeaseRecord{.holder = "(none)"};
  }
  size_t writes() {
    size_t count = 0;
    for (const auto& request : server.requests()) count += is_write(request.verb) ? 1 : 0;
    return count;
  }
};

TEST_F(ElectorTest, TheFirstLeadsTheSecondWaitsAndTakesOverAfterARelease) {
  std::atomic<int> started{0}, stopped{0};
  auto a = elector(server, "a", kPatient), b = elector(server, "b", kPatient);
  a->start({[&] { ++started; }, [&] { ++stopped; }});
  until([&] { return a->leading(); });
  EXPECT_TRUE(a->fence().open(system_clock().boot()));
  b->start({});
  until([&] { return stored().renew_time != stored().acquire_time; });  // it renews
  EXPECT_FALSE(b->leading());
  EXPECT_FALSE(b->fence().open(system_clock().boot()));

  a->resign();
  EXPECT_FALSE(a->leading());
  EXPECT_FALSE(a->fence().open(system_clock().boot()));
  EXPECT_EQ(started, 1);
  EXPECT_EQ(stopped, 1);
  until([&] { return b->leading(); });
  EXPECT_EQ(stored().holder, "b");
  EXPECT_EQ(stored().transitions, 1);
}

TEST_F(ElectorTest, AReleaseEmptiesTheHolder) {
  auto a = elector(server, "a", kPatient);
  a->start({});
  until([&] { return a->leading(); });
  a->resign();
  EXPECT_EQ(stored().holder, "");
}

TEST_F(ElectorTest, ALeaderThatIsCutOffStopsAndLeadsAgainLater) {
  FailingCluster network(server, faults::none());
  std::atomic<int> started{0}, stopped{0};
  auto a = elector(network, "a");
  a->start({[&] { ++started; }, [&] { ++stopped; }});
  until([&] { return started == 1; });
  network.set_policy(faults::every_nth(1, Fault{}));
  until([&] { return stopped == 1; });
  EXPECT_FALSE(a->fence().open(system_clock().boot()));
  const auto refused = a->fenced().create(resources::kConfigMaps, Json::object());
  EXPECT_TRUE(refused.is(Code::kCancelled));
  network.set_policy(faults::none());
  until([&] { return started == 2; });
  EXPECT_TRUE(a->fence().open(system_clock().boot()));
}

TEST_F(ElectorTest, AnElectorThatIsCutOffReleasesNothing) {
  FailingCluster network(server, faults::none());
  std::atomic<bool> stopped{false};
  auto a = elector(network, "a");
  a->start({{}, [&] { stopped = true; }});
  until([&] { return a->leading(); });
  network.set_policy(faults::every_nth(1, Fault{}));
  until([&] { return stopped.load(); });
  network.set_policy([](const Request& request, size_t) -> std::optional<Fault> {
    if (request.verb == Verb::kGet) return Fault{};  // it cannot read that the lease is free
    return std::nullopt;
  });
  const size_t before = writes();
  a->resign();
  EXPECT_EQ(writes(), before);
}

TEST_F(ElectorTest, AnotherHolderInTheRecordEndsTheTermWithoutAWrite) {
  std::atomic<bool> stopped{false};
  auto a = elector(server, "a");
  a->start({{}, [&] { stopped = true; }});
  until([&] { return a->leading(); });
  for (;;) {  // as an administrator would: read, edit, write until no renewal comes between
    auto object = server.get(resources::kLeases, kLease);
    ASSERT_TRUE(object);
    edit_lease(*object, {.holder = "usurper", .duration = std::chrono::seconds{3600}});
    if (server.update(resources::kLeases, *object)) break;
  }
  until([&] { return stopped.load(); });
  EXPECT_EQ(stored().holder, "usurper");
  EXPECT_FALSE(a->fence().open(system_clock().boot()));
}

TEST_F(ElectorTest, ADeletedLeaseEndsTheTermAndIsCreatedAgain) {
  std::atomic<int> started{0}, stopped{0};
  auto a = elector(server, "a");
  a->start({[&] { ++started; }, [&] { ++stopped; }});
  until([&] { return started == 1; });
  ASSERT_TRUE(server.remove(resources::kLeases, kLease));
  until([&] { return started == 2; });
  EXPECT_EQ(stopped, 1);
}

TEST_F(ElectorTest, LostAndRepeatedResponsesDoNotEndATerm) {
  FailingCluster network(server, faults::every_nth(3, Fault{.kind = Fault::Kind::kLose}));
  std::atomic<int> stopped{0};
  auto a = elector(network, "a", kPatient);
  a->start({{}, [&] { ++stopped; }});
  until([&] { return a->leading(); });
  until([&] { return network.injected() > 8; });
  EXPECT_EQ(stopped, 0);
  EXPECT_EQ(stored().transitions, 0);
}

TEST_F(ElectorTest, AnUnreadableLeaseIsNotAcquired) {
  ASSERT_TRUE(server.create(resources::kLeases,
                            Json{{"apiVersion", "coordination.k8s.io/v1"},
                                 {"kind", "Lease"},
                                 {"metadata", {{"namespace", kLease.ns}, {"name", kLease.name}}},
                                 {"spec", {{"holderIdentity", 7}}}}));
  server.forget_requests();
  auto a = elector(server, "a");
  a->start({});
  until([&] { return server.requests().size() > 3; });
  EXPECT_EQ(writes(), 0u);
}

TEST_F(ElectorTest, NeverTwoOpenFencesUnderRandomFaults) {
  const std::uint64_t seed = system_random().next();
  SCOPED_TRACE("seed " + std::to_string(seed));
  FailingCluster left(server, faults::random(seed, 0.5)),
      right(server, faults::random(seed + 1, 0.5));
  std::atomic<int> terms{0};
  auto a = elector(left, "a"), b = elector(right, "b");
  a->start({[&] { ++terms; }, {}});
  b->start({[&] { ++terms; }, {}});
  until([&] {
    const BootTime now = system_clock().boot();
    EXPECT_FALSE(a->fence().open(now) && b->fence().open(now));
    return left.injected() + right.injected() > 60 && terms > 0;
  });
}

TEST_F(ElectorTest, ImpossibleOptionsAreRefused) {
  const auto make = [&](ElectorOptions options) {
    return Elector::make(server, std::move(options), system_clock(), random, metrics)
        .is(Code::kInvalid);
  };
  EXPECT_TRUE(make({kLease, "", kQuick}));
  EXPECT_TRUE(make({{"", "x"}, "a", kQuick}));
  EXPECT_TRUE(make({kLease, "a", {.lease = seconds{1}}}));
  EXPECT_NE(elector_identity(random), elector_identity(random));
}

}  // namespace
}  // namespace paddle::kube
