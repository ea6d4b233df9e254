// SPDX-License-Identifier: Apache-2.0
#include "local/node/assigned_pod.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::local {
namespace {

using api::Json;

Json pod(const std::string& restart, const Json& status = Json::object()) {
  return {
      {"metadata", {{"name", "p"}, {"namespace", "n"}, {"uid", "u"}}},
      {"spec", {{"restartPolicy", restart}, {"containers", Json::array({Json{{"name", "main"}}})}}},
      {"status", status}};
}

Json running(int restarts) {
  return {{"phase", "Running"},
          {"podIP", "10.0.0.2"},
          {"containerStatuses", Json::array({Json{{"name", "main"},
                                                  {"restartCount", restarts},
                                                  {"state", {{"running", Json::object()}}}}})}};
}

PodAction action_of(const Json& object) { return decide_action(*decode_assigned_pod(object)); }

TEST(AssignedPod, ANewPodIsRun) {
  EXPECT_EQ(action_of(pod("Never")), PodAction::kRun);
  EXPECT_EQ(action_of(pod("Always", {{"phase", "Pending"}})), PodAction::kRun);
}

TEST(AssignedPod, APodThatAnEarlierNodeRanIsRestartedOrFails) {
  EXPECT_EQ(action_of(pod("Always", running(2))), PodAction::kRunAgain);
  EXPECT_EQ(action_of(pod("OnFailure", running(0))), PodAction::kRunAgain);
  EXPECT_EQ(action_of(pod("Never", running(0))), PodAction::kMarkFailed);
  EXPECT_EQ(restarts_after(*decode_assigned_pod(pod("Always", running(2)))).at("main"), 3);

  Json waiting = running(0);  // it had an address, and its container never ran
  waiting["containerStatuses"][0]["state"] = {{"waiting", Json::object()}};
  EXPECT_EQ(action_of(pod("Never", waiting)), PodAction::kRunAgain);
  EXPECT_TRUE(restarts_after(*decode_assigned_pod(pod("Never", waiting))).empty());
}

TEST(AssignedPod, AnEndedPodIsIgnoredAndADeletedPodIsRemoved) {
  EXPECT_EQ(action_of(pod("Always", {{"phase", "Failed"}})), PodAction::kIgnore);
  EXPECT_EQ(action_of(pod("Always", {{"phase", "Succeeded"}})), PodAction::kIgnore);
  Json deleted = pod("Always", running(0));
  deleted["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  deleted["metadata"]["deletionGracePeriodSeconds"] = 7;
  EXPECT_EQ(action_of(deleted), PodAction::kFinish);
  EXPECT_EQ(decode_assigned_pod(deleted)->grace, std::chrono::seconds{7});
}

TEST(AssignedPod, APodThatCannotRunHereIsRejectedWithAReason) {
  Json odd = pod("Always");
  odd["spec"]["volumes"] = Json::array({Json{{"name", "v"}, {"iscsi", Json::object()}}});
  const auto decoded = *decode_assigned_pod(odd);
  EXPECT_EQ(decide_action(decoded), PodAction::kReject);
  const PodState state = failed_state(decoded, PodAction::kReject, WallTime{});
  EXPECT_EQ(phase_of({}, state), "Failed");
  EXPECT_NE(state.failed_message.find("volume 'v'"), std::string::npos);
}

TEST(AssignedPod, AFailedPodKeepsItsRestartCounts) {
  const auto decoded = *decode_assigned_pod(pod("Never", running(1)));
  const Json status = status_of(
      *decoded.spec, failed_state(decoded, PodAction::kMarkFailed, WallTime{}), WallTime{});
  EXPECT_EQ(status["phase"], "Failed");
  EXPECT_EQ(status["reason"], "NodeRestarted");
  EXPECT_EQ(status["containerStatuses"][0]["restartCount"], 1);
  EXPECT_EQ(status["containerStatuses"][0]["state"]["terminated"]["exitCode"], 137);
  EXPECT_EQ(status["containerStatuses"][0]["state"]["terminated"]["reason"],
            "ContainerStatusUnknown");
}

TEST(AssignedPod, AContainerThatEndedBeforeARestartOfTheNodeKeepsItsState) {
  const auto container = [](const char* name, const Json& state) {
    return Json{{"name", name}, {"restartCount", 0}, {"state", state}};
  };
  const auto ended = [](int code, const char* reason) {
    return Json{{"terminated",
                 {{"exitCode", code},
                  {"reason", reason},
                  {"startedAt", "2026-01-01T00:00:00Z"},
                  {"finishedAt", "2026-01-01T00:00:07Z"}}}};
  };
  Json object = pod("Never", running(0));
  object["spec"]["initContainers"] =
      Json::array({Json{{"name", "coord"}}, Json{{"name", "second"}}});
  object["spec"]["containers"].push_back(Json{{"name", "side"}});
  object["status"]["initContainerStatuses"] = Json::array(
      {container("coord", ended(0, "Completed")), container("second", ended(0, "Completed"))});
  object["status"]["containerStatuses"].push_back(container("side", ended(3, "Error")));

  const auto decoded = *decode_assigned_pod(object);
  ASSERT_EQ(decide_action(decoded), PodAction::kMarkFailed);
  const Json status = status_of(
      *decoded.spec, failed_state(decoded, PodAction::kMarkFailed, WallTime{}), WallTime{});
  for (const Json& init : status["initContainerStatuses"]) {
    EXPECT_EQ(init["state"], ended(0, "Completed")) << init;
  }
  EXPECT_EQ(status["containerStatuses"][0]["state"]["terminated"]["reason"],
            "ContainerStatusUnknown");
  EXPECT_EQ(status["containerStatuses"][1]["state"], ended(3, "Error"));
}

TEST(PodConditions, KeepTheTimeOfTheirLastChange) {
  const auto condition = [](const char* type, const char* status, const char* since) {
    return Json{{"type", type}, {"status", status}, {"lastTransitionTime", since}};
  };
  const Json before = {{"conditions", Json::array({condition("Ready", "True", "then"),
                                                   condition("Initialized", "True", "then")})}};
  const Json now = {{"conditions", Json::array({condition("Ready", "False", "now"),
                                                condition("Initialized", "True", "now")})}};
  const Json kept = keep_transition_times(now, before);
  EXPECT_EQ(kept["conditions"][0]["lastTransitionTime"], "now");
  EXPECT_EQ(kept["conditions"][1]["lastTransitionTime"], "then");
  EXPECT_EQ(keep_transition_times(now, Json()), now);
}

TEST(AssignedPod, ADeadlineCountsFromTheStartOfThePod) {
  const WallTime start{std::chrono::seconds{1'000}};
  AssignedPod pod;
  EXPECT_FALSE(deadline_passed(pod, start, start + std::chrono::hours{9}));
  pod.active_deadline = std::chrono::seconds{60};
  EXPECT_FALSE(deadline_passed(pod, std::nullopt, start));
  EXPECT_FALSE(deadline_passed(pod, start, start + std::chrono::seconds{59}));
  EXPECT_TRUE(deadline_passed(pod, start, start + std::chrono::seconds{60}));
}

TEST(AssignedPod, APodThatWasStoppedByItsDeadlineHasFailedWhateverItsContainersReturned) {
  PodSpec spec;
  spec.restart = RestartPolicy::kNever;
  spec.containers.emplace_back().name = "c";
  PodState state;
  state.containers["c"] = {.phase = ContainerState::Phase::kTerminated, .terminated = Terminated{}};
  EXPECT_EQ(phase_of(spec, state), "Succeeded");
  state = exceeded_state(state);
  EXPECT_EQ(phase_of(spec, state), "Failed");
  EXPECT_EQ(state.failed_reason, "DeadlineExceeded");
}

}  // namespace
}  // namespace paddle::local
