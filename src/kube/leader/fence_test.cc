// SPDX-License-Identifier: Apache-2.0
#include "kube/leader/fence.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Counts what reaches the wire; `before_send` plays what happens between call and send.
class Wire final : public Cluster {
 public:
  std::function<void()> before_send{};
  int reads = 0, writes = 0;
  Call last{};

  Result<Json> get(const Resource&, const ObjectKey&, const Call&) override { return read(); }
  Result<Json> get_sub(const Resource&, const ObjectKey&, const std::string&,
                       const Call&) override {
    return read();
  }
  Result<std::string> list(const Resource&, const ListOptions&, const ItemSink&,
                           const Call&) override {
    ++reads;
    return std::string("1");
  }
  Result<> watch(const Resource&, const WatchOptions&, const EventSink&, const Call&) override {
    ++reads;
    return Done{};
  }
  Result<Json> create(const Resource&, const Json&, const Call& call) override {
    return write(call);
  }
  Result<Json> update(const Resource&, const Json&, const std::string&, const Call& call) override {
    return write(call);
  }
  Result<Json> patch(const Resource&, const ObjectKey&, const Patch&, const std::string&,
                     const Call& call) override {
    return write(call);
  }
  Result<> remove(const Resource&, const ObjectKey&, const DeleteOptions&,
                  const Call& call) override {
    CHECK_DONE(write(call));
    return Done{};
  }

 private:
  Result<Json> read() {
    ++reads;
    return Json::object();
  }
  Result<Json> write(const Call& call) {
    if (before_send) before_send();
    if (call.may_send && !call.may_send()) return Error{Code::kCancelled, "not sent"};
    last = call;
    ++writes;
    return Json::object();
  }
};

struct FenceTest : ::testing::Test {
  ManualClock clock{};
  Metrics metrics{};
  Wire wire{};
  Fence fence{};
  FencedCluster cluster{wire, fence, clock, "lease", metrics};

  void SetUp() override { clock.advance(seconds{100}); }
  // Every kind of write, and the codes that came back.
  std::vector<std::optional<Code>> write_everything(const Call& call = {}) {
    const Resource& maps = resources::kConfigMaps;
    const ObjectKey key{"ns", "a"};
    std::vector<std::optional<Code>> codes;
    const auto note = [&](const auto& result) {
      codes.push_back(result ? std::nullopt : std::optional(result.error().code));
    };
    note(cluster.create(maps, Json::object(), call));
    note(cluster.update(maps, Json::object(), {}, call));
    note(cluster.patch(maps, key, {.body = Json::object()}, {}, call));
    note(cluster.remove(maps, key, {}, call));
    return codes;
  }
};

const std::vector<std::optional<Code>> kAllWritten(4), kAllRefused(4, Code::kCancelled);

TEST_F(FenceTest, StartsClosedAndReadsPassAnyway) {
  EXPECT_EQ(write_everything(), kAllRefused);
  EXPECT_TRUE(cluster.get(resources::kPods, {"ns", "a"}));
  EXPECT_TRUE(cluster.get_sub(resources::kPods, {"ns", "a"}, "status"));
  EXPECT_TRUE(cluster.list(resources::kPods, {}, {}));
  EXPECT_TRUE(cluster.watch(resources::kPods, {}, {}));
  EXPECT_EQ(wire.writes, 0);
  EXPECT_EQ(wire.reads, 4);
}

TEST_F(FenceTest, WritesPassUntilTheLeaseHasExpired) {
  fence.open_until(clock.boot() + seconds{5});
  EXPECT_EQ(write_everything(), kAllWritten);
  clock.advance(seconds{5});
  EXPECT_EQ(write_everything(), kAllRefused);
  EXPECT_EQ(wire.writes, 4);
  const auto refused = cluster.create(resources::kPods, Json::object());
  EXPECT_EQ(refused.error().message, "lease expired; not the leader any more");
}

TEST_F(FenceTest, AStepOfTheWallClockChangesNothing) {
  fence.open_until(clock.boot() + seconds{5});
  clock.step_wall(std::chrono::hours{-48});
  EXPECT_EQ(write_everything(), kAllWritten);
  clock.advance(seconds{5});
  EXPECT_EQ(write_everything(), kAllRefused);
}

TEST_F(FenceTest, APauseBetweenTheCallAndTheSendIsNoticed) {
  for (int i = 0; i < 4; ++i) {
    fence.open_until(clock.boot() + seconds{5});
    wire.before_send = [&] { clock.advance(seconds{6}); };
    EXPECT_TRUE(cluster.create(resources::kPods, Json::object()).is(Code::kCancelled));
  }
  EXPECT_EQ(wire.writes, 0);
  EXPECT_NE(metrics.text().find("paddle_leader_refused_writes_total{lease=\"lease\"} 4"),
            std::string::npos);
}

TEST_F(FenceTest, ACallNeverOutlivesTheLease) {
  fence.open_until(clock.boot() + milliseconds{1500});
  write_everything({.timeout = seconds{30}});
  EXPECT_EQ(wire.last.timeout, milliseconds{1500});
  write_everything({.timeout = milliseconds{20}});
  EXPECT_EQ(wire.last.timeout, milliseconds{20});
}

TEST_F(FenceTest, TheCallersOwnMaySendStillCounts) {
  fence.open_until(clock.boot() + seconds{5});
  EXPECT_EQ(write_everything({.may_send = [] { return false; }}), kAllRefused);
}

}  // namespace
}  // namespace paddle::kube
