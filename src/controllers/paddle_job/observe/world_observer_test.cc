// SPDX-License-Identifier: Apache-2.0
//
// What jobs depend on: Volcano, etcd, and the ports of nodes.

#include "controllers/paddle_job/spec/elastic.h"
#include "controllers/paddle_job/testing/reconciler_fixture.h"
#include "etcd/failing_store.h"
#include "etcd/memory_store.h"

namespace paddle::controllers::paddle_job {
namespace {

using kube::Verb;

const kube::Resource kPodGroups{"scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup", true};

std::string run_on(const std::string&, int) { return "Running"; }

TEST_F(PaddleJobReconcilerTest, AClusterWithoutVolcanoIsReportedAndAGangIsWaitedFor) {
  options.config.scheduling = "volcano";
  create_job();
  std::atomic<bool> installed{false};
  bool admitted = false;
  kube::FailingCluster failing(server, [&](const kube::Request& request, size_t) {
    const bool missing = !installed && request.resource == kPodGroups;
    return missing ? std::optional<kube::Fault>({.code = Code::kNotFound}) : std::nullopt;
  });
  run_until(failing, run_on, [&] {
    if (reason() == "VolcanoMissing" && !installed) {
      EXPECT_TRUE(names(kinds::kPods).empty());
      installed = true;
      EXPECT_TRUE(server.patch(kinds::kPaddleJobs, key,  // the job is queued again
                               {.body = {{"metadata", {{"labels", {{"seen", "yes"}}}}}}}));
    }
    if (reason() == "PodGroupNotAdmitted" && !admitted) {
      EXPECT_TRUE(names(kinds::kPods).empty());
      admitted = true;
      (void)server.patch(kPodGroups, key, {.body = {{"status", {{"phase", "Inqueue"}}}}});
    }
    return phase() == "Running";
  });
  const auto group = server.get(kPodGroups, key);
  ASSERT_TRUE(group);
  EXPECT_EQ((*group)["spec"]["minMember"], 2);
}

TEST_F(PaddleJobReconcilerTest, EtcdHasTheNumberOfTrainersUntilTheJobEnds) {
  const std::shared_ptr<etcd::Store> store = std::make_shared<etcd::MemoryStore>();
  options.config.etcd = {"http://e:2379"};
  options.etcd = store;
  const auto np = [&]() -> std::string {
    const auto entry = store->get(np_key(key));
    return entry && *entry ? (*entry)->value : "";
  };
  ASSERT_TRUE(store->put(state_key(key), "1"));  // a job of this name was done before
  create_job({{"elastic", 1}});
  std::atomic<bool> over{false};
  auto manager = make(server);
  Kubelet kubelet(server, "train",
                  [&](const std::string&, int) { return over ? "Succeeded" : "Running"; });
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return phase() == "Running" && np() == "2"; });
  const auto state = store->get(state_key(key));
  ASSERT_TRUE(state);
  EXPECT_TRUE(!*state || (*state)->value != "1");
  for (const int replicas : {3, 1}) {
    ASSERT_TRUE(server.patch(kinds::kPaddleJobs, key,
                             {.body = {{"spec", {{"worker", {{"replicas", replicas}}}}}}}));
    until([&] {
      return np() == std::to_string(replicas) &&
             names(kinds::kPods).size() == static_cast<size_t>(replicas);
    });
  }
  EXPECT_TRUE(has_event("scaled replicas to 3"));
  EXPECT_FALSE(job()["status"].contains("epoch"));  // nothing was restarted
  EXPECT_TRUE(names(kinds::kConfigMaps).empty());
  over = true;
  until([&] { return phase() == "Completed" && np().empty(); });
}

TEST_F(PaddleJobReconcilerTest, NoElasticPodIsCreatedBeforeEtcdIsClean) {
  etcd::MemoryStore memory;
  std::atomic<bool> down{true};
  using Fate = etcd::FailingStore::Fault;
  options.etcd = std::make_shared<etcd::FailingStore>(
      memory, [&](int) { return down ? Fate::kFailsBefore : Fate::kWorks; });
  options.config.etcd = {"http://e:2379"};
  const auto is_there = [&](const std::string& at) { return memory.get(at, {})->has_value(); };
  ASSERT_TRUE(memory.put(state_key(key), "1", {}));  // a job of this name was done before
  create_job({{"elastic", 1}, {"intranet", "Host"}, {"suspend", true}});
  run_until(server, run_on, [&] { return phase() == "Suspended"; });
  ASSERT_TRUE(server.patch(kinds::kPaddleJobs, key, {.body = {{"spec", {{"suspend", false}}}}}));
  run_until(server, run_on, [&] {
    if (reason() == "EtcdUnavailable" && down) {
      EXPECT_TRUE(names(kinds::kPods).empty());
      down = false;
    }
    return phase() == "Running" && is_there(np_key(key));
  });
  EXPECT_FALSE(is_there(state_key(key)));
  EXPECT_FALSE(has_event("scaled replicas"));

  // Another operator leaves alone what the trainers wrote.
  ASSERT_TRUE(memory.put(state_prefix(key) + "nodes/a", "1", {}));
  ASSERT_TRUE(
      server.patch(kinds::kPaddleJobs, key, {.body = {{"spec", {{"worker", {{"replicas", 3}}}}}}}));
  run_until(server, run_on, [&] { return names(kinds::kPods).size() == 3; });
  EXPECT_TRUE(is_there(state_prefix(key) + "nodes/a"));
}

TEST_F(PaddleJobReconcilerTest, OfElasticJobsWithTheSameIdOnlyTheFirstRuns) {
  const std::shared_ptr<etcd::Store> store = std::make_shared<etcd::MemoryStore>();
  options.etcd = store;
  options.config.etcd = {"http://e:2379"};
  const ObjectKey twin{"train-res", "net"};  // the id of both is train-res-net
  create_job({{"elastic", 1}}, "res-net");
  Json second = *server.get(kinds::kPaddleJobs, {"train", "res-net"});
  second["metadata"] = {{"namespace", twin.ns}, {"name", twin.name}};
  ASSERT_TRUE(server.create(kinds::kPaddleJobs, second));
  run_until(server, run_on, [&] {
    const std::string text = server.get(kinds::kPaddleJobs, twin)->dump();
    return text.find("NameTaken") != std::string::npos && store->get(np_key(twin))->has_value();
  });
  EXPECT_EQ(names(kinds::kPods), (std::set<std::string>{"res-net-worker-0", "res-net-worker-1"}));
}

TEST_F(PaddleJobReconcilerTest, PodsGetTheDefaultsOfTheirNamespace) {
  const ObjectKey defaults{"train", "paddle-job-defaults"};
  const auto map = [&](const std::string& text) {
    return Json{{"apiVersion", "v1"},
                {"kind", "ConfigMap"},
                {"metadata", {{"namespace", defaults.ns}, {"name", defaults.name}}},
                {"data", {{"template", text}}}};
  };
  ASSERT_TRUE(server.create(kinds::kConfigMaps, map("spec: [")));
  create_job();
  bool corrected = false;
  run_until(server, run_on, [&] {
    if (reason() == "InvalidDefaults" && !corrected) {
      EXPECT_TRUE(names(kinds::kPods).empty());
      corrected = true;
      EXPECT_TRUE(server.patch(
          kinds::kConfigMaps, defaults,
          {.body = {{"data", {{"template", "spec: {imagePullSecrets: [{name: registry}]}"}}}}}));
    }
    return phase() == "Running";
  });
  EXPECT_TRUE(corrected);
  const auto pod = server.get(kinds::kPods, {"train", "resnet-worker-0"});
  ASSERT_TRUE(pod);
  EXPECT_EQ((*pod)["spec"]["imagePullSecrets"][0]["name"], "registry");
  EXPECT_FALSE(job()["spec"]["worker"]["template"]["spec"].contains("imagePullSecrets"))
      << "the job itself stays as it was written";
}

TEST_F(PaddleJobReconcilerTest, JobsOnTheHostNetworkGetDifferentPorts) {
  options.config.host_ports = {40000, 40199};
  for (int i = 0; i < 8; ++i) {
    create_job({{"intranet", "Host"}, {"worker", {{"replicas", 1}}}}, "j" + std::to_string(i));
  }
  std::set<int> ports;
  run_until(server, run_on, [&] {
    ports.clear();
    for (int i = 0; i < 8; ++i) {
      const auto one = server.get(kinds::kPaddleJobs, {"train", "j" + std::to_string(i)});
      ports.insert(one->value("/status/port"_json_pointer, 0));
    }
    return !ports.contains(0);
  });
  EXPECT_EQ(ports.size(), 8u);
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
