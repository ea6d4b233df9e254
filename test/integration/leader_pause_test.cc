// SPDX-License-Identifier: Apache-2.0
// Leaders that are stopped, cut off or terminated, on a real API server, checked by its audit log:
// after its lease has expired an old leader writes nothing. A write that was on its way before the
// pause is received before the lease expires, and before another process acquires it; so it needs
// no exception.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "base/log.h"
#include "kube/leader/election/lease.h"
#include "test/integration/audit_log.h"
#include "test/integration/control_plane_fixture.h"
#include "test/integration/tcp_gate.h"
#include "test/support/eventually.h"
#include "test/support/process.h"

namespace paddle::test {
namespace {

using kube::Json;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct Probe {
  std::string name{};  // "probe-a": identity and user agent
  pid_t pid = 0;
};

class LeaderPause : public ControlPlaneTest {
 protected:
  LeaderPause() : ControlPlaneTest({.audit = true}, {.user_agent = "test"}) {}

  std::unique_ptr<AuditLog> audit{};
  std::vector<Probe> probes{};

  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(ControlPlaneTest::SetUp());
    audit = std::make_unique<AuditLog>(plane->audit_log(), "probe-");
    for (int i = 0; i < 4; ++i) {
      const Json map{
          {"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"namespace", "default"}, {"name", "target-" + std::to_string(i)}}}};
      const auto made = client->create(kube::resources::kConfigMaps, map);
      ASSERT_TRUE(made) << made.error().message;
    }
  }

  void TearDown() override {
    for (const auto& probe : probes) {
      if (probe.pid == 0) continue;
      thaw(probe.pid);
      kill_and_reap(probe.pid);
    }
    if (HasFailure() && plane) {
      for (const auto& probe : probes) {
        std::cerr << "--- " << probe.name << "\n"
                  << tail(plane->directory() + "/" + probe.name + ".log", 30);
      }
    }
  }

  void start(const std::string& letter, const std::string& kubeconfig,
             const std::vector<std::string>& timing) {
    std::vector<std::string> argv{PADDLE_PROBE_OPERATOR, "kubeconfig=" + kubeconfig,
                                  "name=" + letter};
    argv.insert(argv.end(), timing.begin(), timing.end());
    const auto pid = spawn({.argv = argv,
                            .env = clean_environment(plane->directory()),
                            .log = plane->directory() + "/probe-" + letter + ".log"});
    ASSERT_TRUE(pid) << pid.error().message;
    probes.push_back({"probe-" + letter, *pid});
  }

  std::string holder() {
    auto lease = client->get(kube::resources::kLeases, {"default", "probe.paddlepaddle.org"});
    if (!lease) return {};
    const auto record = kube::decode_lease(*lease);
    return record ? record->holder : std::string{};
  }
  size_t count(const std::string& agent, const std::string& verb) {
    size_t found = 0;
    for (const auto& line : audit->lines()) {
      found += line.agent == agent && line.verb == verb ? 1 : 0;
    }
    return found;
  }
  // Waits until `agent` has made `more` further requests of this kind.
  bool goes_on(const std::string& agent, const std::string& verb, size_t more) {
    const size_t before = count(agent, verb);
    return eventually([&] { return count(agent, verb) >= before + more; }, seconds{120},
                      milliseconds{200});
  }
  bool holds(const std::string& who) {
    return eventually([&] { return holder() == who; }, seconds{120}, milliseconds{50});
  }
};

const std::vector<std::string> kShort{"lease_ms=3000", "renew_ms=2000", "retry_ms=300",
                                      "margin_ms=500"};

TEST_F(LeaderPause, AStoppedLeaderWritesNothingAfterItsLease) {
  start("a", plane->kubeconfig(), kShort);
  start("b", plane->kubeconfig(), kShort);
  ASSERT_TRUE(eventually([&] { return !holder().empty(); }, seconds{120}));
  constexpr int kRounds = 5;
  for (int round = 0; round < kRounds; ++round) {
    const bool shares_volume = holder() == probes[0].name;
    const Probe& leader = shares_volume ? probes[0] : probes[1];
    const Probe& other = shares_volume ? probes[1] : probes[0];
    ASSERT_TRUE(goes_on(leader.name, "update", 40)) << "the leader does not write";
    ASSERT_TRUE(freeze(leader.pid));
    ASSERT_TRUE(holds(other.name)) << "no other process took over, round " << round;
    ASSERT_TRUE(goes_on(other.name, "update", 40));
    thaw(leader.pid);
    ASSERT_TRUE(goes_on(leader.name, "get", 3)) << "the old leader did not wake up";
  }
  const auto& lines = audit->lines();
  const auto late = late_writes(lines, seconds{3});
  for (const auto& sentence : late) ADD_FAILURE() << sentence;
  size_t writes = 0;
  for (const auto& line : lines) writes += line.writes() ? 1 : 0;
  std::cout << kRounds << " pauses, " << writes << " writes in the audit log, " << late.size()
            << " late\n";
}

TEST_F(LeaderPause, ALeaderThatIsCutOffWritesNothingAfterItsLease) {
  const std::string url = plane->url();
  const std::string port = url.substr(url.rfind(':') + 1);
  TcpGate gate(std::stoi(port));
  ASSERT_GT(gate.port(), 0);
  std::string config = read_file(plane->kubeconfig());
  const size_t at = config.find(":" + port);
  ASSERT_NE(at, config.npos);
  config.replace(at, port.size() + 1, ":" + std::to_string(gate.port()));
  const std::string gated = plane->directory() + "/gated.kubeconfig";
  ASSERT_TRUE(write_file(gated, config));

  start("a", gated, kShort);
  ASSERT_TRUE(holds("probe-a"));
  start("b", plane->kubeconfig(), kShort);
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(goes_on("probe-a", "update", 40));
    gate.shut();
    ASSERT_TRUE(holds("probe-b"));
    ASSERT_TRUE(goes_on("probe-b", "update", 40));
    gate.open();
    ASSERT_TRUE(goes_on("probe-a", "get", 3)) << "it did not come back";
    ASSERT_TRUE(freeze(probes[1].pid));  // so that a leads again
    ASSERT_TRUE(holds("probe-a"));
    thaw(probes[1].pid);
  }
  for (const auto& sentence : late_writes(audit->lines(), seconds{3})) {
    ADD_FAILURE() << sentence;
  }
}

TEST_F(LeaderPause, AnOrderlyEndHandsTheLeaseOverLongBeforeItWouldExpire) {
  const std::vector<std::string> long_lease{"lease_ms=120000", "renew_ms=90000", "retry_ms=300",
                                            "margin_ms=1000"};
  start("a", plane->kubeconfig(), long_lease);
  ASSERT_TRUE(holds("probe-a"));
  start("b", plane->kubeconfig(), long_lease);
  ASSERT_TRUE(goes_on("probe-a", "update", 10));
  ASSERT_TRUE(goes_on("probe-b", "get", 3));
  ASSERT_EQ(::kill(probes[0].pid, SIGTERM), 0);
  std::optional<Exit> exit;
  ASSERT_TRUE(eventually([&] { return (exit = poll_exit(probes[0].pid)).has_value(); }));
  probes[0].pid = 0;
  EXPECT_EQ(*exit, Exit{}) << describe(*exit);
  ASSERT_TRUE(holds("probe-b"));
  ASSERT_TRUE(goes_on("probe-b", "update", 10));

  WallTime released{}, taken{};
  const auto& lines = audit->lines();
  for (const auto& line : lines) {
    if (!line.changed_the_lease()) continue;
    if (line.agent == "probe-a") released = line.received;
    if (line.agent == "probe-b" && taken == WallTime{}) taken = line.received;
  }
  EXPECT_LT(taken - released, seconds{60}) << "it waited for the lease to run out";
  std::cout << "handed over in "
            << std::chrono::duration_cast<milliseconds>(taken - released).count() << " ms\n";
  for (const auto& sentence : late_writes(lines, seconds{120})) ADD_FAILURE() << sentence;
}

}  // namespace
}  // namespace paddle::test
