// SPDX-License-Identifier: Apache-2.0
#include "local/node/pod_status.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::local {
namespace {

using Phase = ContainerState::Phase;

ContainerState ended(int code) {
  return {.phase = Phase::kTerminated,
          .terminated = Terminated{.exit_code = code, .reason = code ? "Error" : "Completed"}};
}
const ContainerState kRunning{.phase = Phase::kRunning};

PodSpec pod(RestartPolicy policy) {
  PodSpec spec;
  spec.restart = policy;
  spec.init = {{.name = "i"}};
  spec.containers = {{.name = "a"}, {.name = "b"}};
  return spec;
}

struct Case {
  RestartPolicy policy;
  ContainerState init, a, b;
  const char* phase;
};

TEST(PodPhase, FollowsTheKubeletsRules) {
  const ContainerState waiting{};
  const auto never = RestartPolicy::kNever, again = RestartPolicy::kOnFailure,
             always = RestartPolicy::kAlways;
  const Case cases[] = {
      {never, waiting, waiting, waiting, "Pending"},
      {never, kRunning, waiting, waiting, "Pending"},
      {never, ended(1), waiting, waiting, "Failed"},
      {again, ended(1), waiting, waiting, "Pending"},
      {never, ended(0), waiting, waiting, "Pending"},
      {never, ended(0), kRunning, waiting, "Running"},
      {never, ended(0), ended(0), kRunning, "Running"},
      {never, ended(0), ended(1), kRunning, "Running"},
      {never, ended(0), ended(0), ended(0), "Succeeded"},
      {never, ended(0), ended(0), ended(3), "Failed"},
      {again, ended(0), ended(0), ended(0), "Succeeded"},
      {again, ended(0), ended(0), ended(3), "Running"},
      {always, ended(0), ended(0), ended(0), "Running"},
  };
  for (const Case& c : cases) {
    const PodState state{.init = {{"i", c.init}}, .containers = {{"a", c.a}, {"b", c.b}}};
    EXPECT_EQ(phase_of(pod(c.policy), state), c.phase) << &c - cases;
  }
}

TEST(PodStatus, IsReadyOnlyWhileEveryContainerRuns) {
  PodState state{.ip = "10.0.0.2",
                 .init = {{"i", ended(0)}},
                 .containers = {{"a", kRunning}, {"b", kRunning}}};
  auto status = status_of(pod(RestartPolicy::kNever), state, {});
  EXPECT_EQ(status["conditions"][3]["status"], "True");
  EXPECT_EQ(status["podIPs"][0]["ip"], "10.0.0.2");
  EXPECT_TRUE(status["initContainerStatuses"][0]["ready"]);

  state.containers["b"] = ended(0);
  status = status_of(pod(RestartPolicy::kNever), state, {});
  EXPECT_EQ(status["conditions"][3]["status"], "False");
  EXPECT_EQ(status["containerStatuses"][1]["state"]["terminated"]["exitCode"], 0);
}

TEST(PodStatus, ShowsTheLastEndOfARestartedContainer) {
  ContainerState restarted = kRunning;
  restarted.restarts = 2;
  restarted.terminated = Terminated{.exit_code = 9, .reason = "Error"};
  const PodState state{.init = {{"i", ended(0)}},
                       .containers = {{"a", restarted}, {"b", kRunning}}};
  const auto status = status_of(pod(RestartPolicy::kOnFailure), state, {});
  EXPECT_EQ(status["containerStatuses"][0]["restartCount"], 2);
  EXPECT_EQ(status["containerStatuses"][0]["lastState"]["terminated"]["exitCode"], 9);
}

}  // namespace
}  // namespace paddle::local
