// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/spec/host_ports.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/paddle_job/names.h"
#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::Json;

api::PaddleJob host_job(const std::string& uid, int port, const std::string& phase = "Running") {
  api::PaddleJob job;
  job.meta.uid = uid;
  job.spec.intranet = "Host";
  job.status.port = port;
  job.status.phase = phase;
  return job;
}

TEST(HostPorts, TheChoiceFollowsFromTheJobsThatExist) {
  const PortRange range{35000, 65000};
  const int first = *choose_ports("uid-1", range, {});
  EXPECT_EQ(*choose_ports("uid-1", range, {}), first);
  EXPECT_GE(first, range.first);
  EXPECT_LE(first + kPortsPerJob - 1, range.last);
  EXPECT_NE(*choose_ports("uid-2", range, {}), first) << "another job starts its search elsewhere";
  const int next = *choose_ports("uid-1", range, {first});
  EXPECT_EQ(next, *choose_ports("uid-1", range, {first}));
  EXPECT_NE(next, first);
}

TEST(HostPorts, EveryBlockIsAssignedOnceUntilNoneIsLeft) {
  const PortRange range{40000, 40000 + 7 * kPortsPerJob + 5};
  std::set<int> taken;
  for (int i = 0; i < 7; ++i) {
    const auto block = choose_ports("uid-" + std::to_string(i), range, taken);
    ASSERT_TRUE(block) << i;
    for (const int other : taken) EXPECT_GE(std::abs(*block - other), kPortsPerJob);
    EXPECT_LE(*block + kPortsPerJob - 1, range.last);
    taken.insert(*block);
  }
  const auto none = choose_ports("uid-7", range, taken);
  ASSERT_TRUE(none.is(Code::kUnavailable));
  EXPECT_NE(none.error().message.find("--port-range"), std::string::npos);
  taken.erase(taken.begin());
  EXPECT_TRUE(choose_ports("uid-7", range, taken));
}

TEST(HostPorts, PortsOfOutgoingConnectionsAreAssignedLast) {
  const PortRange range{35000, 65000};
  std::set<int> taken;
  for (int i = 0; i < 200; ++i) {  // 61000-64999: all that Linux does not use itself
    const int block = *choose_ports("uid-" + std::to_string(i), range, taken);
    EXPECT_GE(block, 61000);
    taken.insert(block);
  }
  EXPECT_LT(*choose_ports("uid-200", range, taken), 61000);
  EXPECT_EQ(*choose_ports("x", {32729, 32788}, {}), 32729) << "32749-32768 shares its last port";
}

TEST(HostPorts, BlocksOfAnotherRangeAreAvoidedWhereTheyOverlap) {
  const PortRange range{40000, 40039};
  EXPECT_EQ(*choose_ports("x", range, {39990}), 40020);
  EXPECT_EQ(*choose_ports("x", range, {40039}), 40000);
  EXPECT_TRUE(choose_ports("x", range, {40010}).is(Code::kUnavailable));
  EXPECT_TRUE(choose_ports("x", range, {39980, 40040}));
}

TEST(HostPorts, AreStoredInTheStatusOrInTheAnnotationOfTheGoOperator) {
  EXPECT_EQ(stored_port(host_job("a", 40020)), 40020);
  auto old = host_job("a", 0);
  EXPECT_EQ(stored_port(old), 0);
  old.meta.annotations["host-port"] = "35020";
  EXPECT_EQ(stored_port(old), 35020);
  for (const char* odd : {"", "x", "-1", "65530", "70000", "35020 "}) {
    old.meta.annotations["host-port"] = odd;
    EXPECT_EQ(stored_port(old), 0) << odd;
  }
}

TEST(HostPorts, FinishedJobsAndJobsOffTheHostNetworkOccupyNone) {
  auto elsewhere = host_job("d", 40060);
  elsewhere.spec.intranet = "Service";
  std::vector<std::shared_ptr<const api::PaddleJob>> jobs;
  for (const auto& job :
       {host_job("self", 40000), host_job("a", 40020, "Completed"), host_job("b", 40040, "Failed"),
        host_job("c", 40080, "Pending"), elsewhere, host_job("e", 0)}) {
    jobs.push_back(std::make_shared<const api::PaddleJob>(job));
  }
  EXPECT_EQ(ports_taken(jobs, "self"), std::set<int>{40080});
}

TEST(HostPorts, B17_HostPortsFollowFromTheJobAndAreStoredBeforeAnyPod) {
  const auto job = workers(2, R"({"intranet": "Host"})");
  const auto plan = plan_for(job, {}, {.host_ports = {40000, 40999}});
  ASSERT_TRUE(stores_first(plan));
  EXPECT_GE(plan.status->port, 40000);
  EXPECT_LE(plan.status->port + 19, 40999);
  EXPECT_EQ(plan, plan_for(job, {}, {.host_ports = {40000, 40999}}));
  const auto pods = plan_for(with_port(job, plan.status->port), {});
  EXPECT_EQ(created(pods).size(), 2u);
}

TEST(HostPorts, B17_AJobThatMovesToTheHostNetworkGetsABlockOfItsOwn) {
  auto job = workers(1);
  job.status.port = 36000;  // as operators before wrote it for every intranet
  job.status = status_after(job, {});
  EXPECT_EQ(job.status.port, 0);
  job.spec.intranet = "Host";
  const auto plan = plan_for(job, {}, {.host_ports = {40000, 40999}});
  ASSERT_TRUE(stores_first(plan));
  EXPECT_GE(plan.status->port, 40000);
  job.status = *plan.status;
  EXPECT_EQ(status_after(job, {}).port, plan.status->port);
  job.spec.intranet = "PodIP";  // and gives it back
  EXPECT_EQ(status_after(job, {}).port, 0);
}

TEST(HostPorts, B18_PortsOfOtherJobsAreNotChosen) {
  const auto job = workers(1, R"({"intranet": "Host"})");
  World world;
  world.ports_taken = {40000, 40020};
  EXPECT_EQ(plan_for(job, world, {.host_ports = {40000, 40059}}).status->port, 40040);
  world.ports_taken.insert(40040);
  const auto full = plan_for(job, world, {.host_ports = {40000, 40059}});
  EXPECT_EQ(reason(*full.status), "NoFreePorts");
  EXPECT_TRUE(full.requeue_after);
}

TEST(HostPorts, AreWrittenAsTheAnnotationThatScriptsRead) {
  auto job = workers(1, R"({"intranet": "Host"})");
  job.status.port = 40020;
  const auto plan = plan_for(job, {});
  EXPECT_EQ(only<SetHostPortAnnotation>(plan), std::vector{SetHostPortAnnotation{40020}});
  EXPECT_EQ(created(plan).size(), 1u) << "in the same plan";
  job.meta.annotations["host-port"] = "40020";
  EXPECT_TRUE(only<SetHostPortAnnotation>(plan_for(job, {})).empty());
  job.meta.annotations["host-port"] = "7";
  EXPECT_EQ(only<SetHostPortAnnotation>(plan_for(job, {})).size(), 1u);
  job.status.phase = "Completed";
  EXPECT_TRUE(only<SetHostPortAnnotation>(plan_for(job, {})).empty());
}

TEST(HostPorts, AreRemovedFromTheAnnotationWhenTheJobLeavesTheHostNetwork) {
  auto job = workers(1);
  job.status.port = 40020;
  job.meta.annotations["host-port"] = "40020";
  EXPECT_EQ(host_port_annotation(job), 0);
  job.meta.annotations["host-port"] = "30000";
  EXPECT_EQ(host_port_annotation(job), std::nullopt) << "the user's own";
  job.status.port = 0;
  job.meta.annotations.clear();
  EXPECT_EQ(host_port_annotation(job), std::nullopt);
}

TEST(HostNetwork, EveryPortOfTheBlockIsDeclaredOnce) {
  Json spec = {{"containers", Json::array({Json{{"name", "a"}}, Json{{"name", "b"}}})}};
  add_host_network(spec, 40000);
  EXPECT_EQ(spec["hostNetwork"], true);
  EXPECT_EQ(spec["dnsPolicy"], "ClusterFirstWithHostNet");
  const Json& ports = spec["containers"][0]["ports"];
  ASSERT_EQ(ports.size(), 20u);
  for (size_t i = 0; i < ports.size(); ++i) {
    EXPECT_EQ(ports[i]["hostPort"], 40000 + static_cast<int>(i));
    EXPECT_EQ(ports[i]["containerPort"], ports[i]["hostPort"]);
  }
  EXPECT_FALSE(spec["containers"][1].contains("ports"));
  const Json once = spec;
  add_host_network(spec, 40000);
  EXPECT_EQ(spec, once);
}

TEST(HostNetwork, PortsTheUserDeclaresAreNotDoubled) {
  Json spec = Json::parse(R"({"containers":[{"name":"a","ports":[{"containerPort":40001}]},
      {"name":"b","ports":[{"containerPort":40002,"protocol":"TCP"},
                           {"containerPort":40003,"protocol":"UDP"}]}]})");
  add_host_network(spec, 40000);
  EXPECT_EQ(spec["containers"][0]["ports"].size(), 19u);
}

TEST(HostNetwork, TheUsersOwnDnsPolicyStays) {
  for (const auto& [given, wanted] : std::map<std::string, std::string>{
           {"None", "None"}, {"Default", "Default"}, {"ClusterFirst", "ClusterFirstWithHostNet"}}) {
    Json spec = {{"dnsPolicy", given}, {"containers", Json::array({Json{{"name", "a"}}})}};
    add_host_network(spec, 40000);
    EXPECT_EQ(spec["dnsPolicy"], wanted);
  }
}

TEST(HostNetwork, OddTemplatesNeverThrow) {
  for (const char* text : {"{}", "[]", "null", R"({"containers":[]})", R"({"containers":3})",
                           R"({"containers":[3]})", R"({"containers":[{"ports":"x"}]})"}) {
    Json spec = Json::parse(text);
    add_host_network(spec, 40000);
  }
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
