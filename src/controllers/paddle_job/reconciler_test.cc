// SPDX-License-Identifier: Apache-2.0
//
// Jobs from their creation to their end, on FakeCluster, with calls that fail, get lost and are
// repeated.

#include "controllers/paddle_job/testing/reconciler_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

using kube::Verb;

TEST_F(PaddleJobReconcilerTest, RunsACollectiveJobToItsEnd) {
  create_job({{"worker", {{"replicas", 3}}}});
  run_to(server, "Completed");
  EXPECT_EQ(names(kinds::kPods).size(), 3u);
  EXPECT_EQ(count(Verb::kCreate, kinds::kPods), 3u);
  const auto map = server.get(kinds::kConfigMaps, key);
  ASSERT_TRUE(map);
  const std::string endpoints = (*map)["data"]["PADDLE_TRAINER_ENDPOINTS"];
  EXPECT_NE(endpoints.find("10.0.0.1:36000"), std::string::npos) << endpoints;
}

TEST_F(PaddleJobReconcilerTest, RunsASingleWorker) {
  create_job({{"worker", {{"replicas", 1}}}});
  run_to(server, "Completed");
  EXPECT_EQ(job()["status"]["mode"], "Single");
}

TEST_F(PaddleJobReconcilerTest, StopsTheServersWhenTheWorkersAreDone) {
  create_job({{"ps", {{"replicas", 2}}}});
  run_until(
      server,
      [](const std::string& name, int) {
        return name.find("-ps-") == std::string::npos ? "Succeeded" : "Running";
      },
      [&] { return phase() == "Completed" && names(kinds::kPods).size() == 2; });
  EXPECT_EQ(names(kinds::kPods), (std::set<std::string>{"resnet-worker-0", "resnet-worker-1"}));
}

TEST_F(PaddleJobReconcilerTest, CreatesServicesForAServiceJobAndDeletesThem) {
  create_job({{"intranet", "Service"}, {"cleanPodPolicy", "Always"}});
  size_t services = 0;
  run_until(
      server, [&](const std::string&, int) { return "Succeeded"; },
      [&] {
        services = std::max(services, names(kinds::kServices).size());
        return phase() == "Completed" && names(kinds::kPods).empty() &&
               names(kinds::kServices).empty() && names(kinds::kConfigMaps).empty();
      });
  EXPECT_EQ(services, 2u);
}

TEST_F(PaddleJobReconcilerTest, AFailedWorkerFailsTheJob) {
  create_job();
  run_to(server, "Failed", "Failed");
  EXPECT_EQ(reason("Failed"), "Failed");
}

TEST_F(PaddleJobReconcilerTest, RestartsAsOftenAsBackoffLimitAllows) {
  create_job({{"backoffLimit", 1}});
  run_until(
      server, [](const std::string&, int epoch) { return epoch == 0 ? "Failed" : "Succeeded"; },
      [&] { return phase() == "Completed"; });
  EXPECT_EQ(job()["status"]["epoch"], 1);
  EXPECT_EQ(job()["status"]["failures"], 1);
  EXPECT_EQ(count(Verb::kCreate, kinds::kPods), 4u);
  EXPECT_TRUE(has_event("the job restarts"));
}

TEST_F(PaddleJobReconcilerTest, AnEvictedWorkerDoesNotCountAsAFailure) {
  create_job();
  run_until(
      server,
      [](const std::string& name, int epoch) {
        return epoch > 0 ? "Succeeded" : name == "resnet-worker-1" ? "Evicted" : "Running";
      },
      [&] { return phase() == "Completed"; });
  EXPECT_EQ(job()["status"]["disruptions"], 1);
  EXPECT_FALSE(job()["status"].contains("failures"));
}

TEST_F(PaddleJobReconcilerTest, StopsTheRunningPeersOfAFailedJobAndKeepsTheirPods) {
  create_job({{"cleanPodPolicy", "OnCompletion"}});
  const auto pod_phase = [&](const char* name) {
    const auto pod = server.get(kinds::kPods, {"train", name});
    return pod ? (*pod)["status"].value("phase", "") + (*pod)["status"].value("reason", "") : "";
  };
  run_until(
      server,
      [&](const std::string& name, int) {  // a peer that does not run yet would be deleted
        const bool fails = name == "resnet-worker-0" && pod_phase("resnet-worker-1") == "Running";
        return fails ? "Failed" : "Running";
      },
      [&] {
        return phase() == "Failed" && pod_phase("resnet-worker-1") == "FailedDeadlineExceeded";
      });
  EXPECT_EQ(pod_phase("resnet-worker-0"), "Failed");
  EXPECT_EQ(count(Verb::kRemove, kinds::kPods), 0u);
}

TEST_F(PaddleJobReconcilerTest, RunsAnEditedTemplateWhenARestartIsRequested) {
  create_job();
  auto manager = make(server);
  Kubelet kubelet(server, "train", [](const std::string&, int) { return "Running"; });
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return phase() == "Running"; });
  Json pod_template = job()["spec"]["worker"]["template"];
  pod_template["spec"]["containers"][0]["image"] = "other";
  ASSERT_TRUE(server.patch(kinds::kPaddleJobs, key,
                           {.body = {{"spec", {{"worker", {{"template", pod_template}}}}}}}));
  until([&] { return reason("UpdatePending") == "TemplateChanged"; });
  EXPECT_EQ(count(Verb::kCreate, kinds::kPods), 2u);
  until([&] { return has_event("kubectl annotate pdj resnet"); });

  ASSERT_TRUE(server.patch(
      kinds::kPaddleJobs, key,
      {.body = {{"metadata", {{"annotations", {{"batch.paddlepaddle.org/restart", "now"}}}}}}}));
  until([&] {
    Json status = job()["status"];  // read once: the phase of epoch 0 is Running, too
    return status["phase"] == "Running" && status["epoch"] == 1;
  });
  for (const char* name : {"resnet-worker-0", "resnet-worker-1"}) {
    const auto pod = server.get(kinds::kPods, {"train", name});
    ASSERT_TRUE(pod);
    EXPECT_EQ((*pod)["spec"]["containers"][0]["image"], "other") << name;
  }
  EXPECT_EQ(job()["status"]["restartRequest"], "now");
  EXPECT_FALSE(job()["status"].contains("disruptions"));
}

TEST_F(PaddleJobReconcilerTest, FollowsItsReplicasWhenScaled) {
  create_job();
  auto manager = make(server);
  Kubelet kubelet(server, "train", [](const std::string&, int) { return "Running"; });
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return phase() == "Running"; });
  for (const int replicas : {3, 1}) {
    ASSERT_TRUE(server.patch(kinds::kPaddleJobs, key,
                             {.body = {{"spec", {{"worker", {{"replicas", replicas}}}}}}}));
    until([&] {
      return phase() == "Running" && names(kinds::kPods).size() == static_cast<size_t>(replicas) &&
             job()["status"]["replicas"] == replicas;
    });
    EXPECT_EQ((*server.get(kinds::kConfigMaps, key))["data"]["PADDLE_TRAINERS_NUM"],
              std::to_string(replicas));
  }
}

TEST_F(PaddleJobReconcilerTest, ASuspendedJobLosesItsPodsAndContinuesLater) {
  create_job();
  auto manager = make(server);
  Kubelet kubelet(server, "train", [](const std::string&, int epoch) {
    return epoch == 0 ? "Running" : "Succeeded";
  });
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return phase() == "Running"; });
  const auto suspend = [&](bool yes) {
    EXPECT_TRUE(server.patch(kinds::kPaddleJobs, key, {.body = {{"spec", {{"suspend", yes}}}}}));
  };
  suspend(true);
  until([&] { return phase() == "Suspended" && names(kinds::kPods).empty(); });
  suspend(false);
  until([&] { return phase() == "Completed"; });
}

TEST_F(PaddleJobReconcilerTest, IsDeletedWhenItsTimeToLiveHasPassed) {
  create_job({{"ttlSecondsAfterFinished", 0}});
  run_to(server, "(gone)");
}

TEST_F(PaddleJobReconcilerTest, ADeletedPodRestartsTheJob) {
  create_job();
  auto manager = make(server);
  Kubelet kubelet(server, "train", [](const std::string&, int epoch) {
    return epoch == 0 ? "Running" : "Succeeded";
  });
  std::jthread running([&](std::stop_token stop) { EXPECT_TRUE(manager->run(stop)); });
  until([&] { return phase() == "Running"; });
  ASSERT_TRUE(server.remove(kinds::kPods, {"train", "resnet-worker-0"}));
  until([&] { return phase() == "Completed"; });
  EXPECT_EQ(job()["status"]["epoch"], 1);
}

TEST_F(PaddleJobReconcilerTest, ReportsARejectedRequestAndContinuesWhenItIsAccepted) {
  create_job();
  std::atomic<bool> full{true};
  kube::FailingCluster failing(server, [&](const kube::Request& request, size_t) {
    const bool refused = full && request.verb == Verb::kCreate && request.resource == kinds::kPods;
    return refused ? std::optional<kube::Fault>({.code = Code::kForbidden}) : std::nullopt;
  });
  run_until(
      failing, [](const std::string&, int) { return "Succeeded"; },
      [&] {
        if (reason() == "Refused") full = false;
        return phase() == "Completed";
      });
  EXPECT_FALSE(full);
  EXPECT_TRUE(has_event("create failed pod resnet-worker-0"));
}

TEST_F(PaddleJobReconcilerTest, ObjectsOfAnOlderOperatorAreAdopted) {
  create_job({{"worker", {{"replicas", 1}}}});
  ASSERT_TRUE(server.create(
      kinds::kPods,
      {{"apiVersion", "v1"},
       {"kind", "Pod"},
       {"metadata",
        {{"namespace", "train"},
         {"name", "resnet-worker-0"},
         {"ownerReferences", Json::array({Json{{"apiVersion", api::PaddleJob::kApiVersion},
                                               {"kind", api::PaddleJob::kKind},
                                               {"name", "resnet"},
                                               {"uid", job()["metadata"]["uid"]},
                                               {"controller", true}}})}}},
       {"spec", {{"containers", Json::array({Json{{"name", "main"}}})}}}}));
  run_to(server, "Completed");
  EXPECT_EQ((*server.get(kinds::kPods,
                         {"train", "resnet-worker-0"}))["metadata"]["labels"][kJobNameLabel],
            "resnet");
}

TEST_F(PaddleJobReconcilerTest, AConfigMapOfAnOlderOperatorIsAdoptedWithoutAPatch) {
  create_job({{"worker", {{"replicas", 1}}}});
  ASSERT_TRUE(server.create(
      kinds::kConfigMaps,
      {{"apiVersion", "v1"},
       {"kind", "ConfigMap"},
       {"metadata",
        {{"namespace", "train"},
         {"name", "resnet"},
         {"ownerReferences", Json::array({Json{{"apiVersion", api::PaddleJob::kApiVersion},
                                               {"kind", api::PaddleJob::kKind},
                                               {"name", "resnet"},
                                               {"uid", job()["metadata"]["uid"]},
                                               {"controller", true}}})}}},
       {"data", {{"PADDLE_TRAINERS_NUM", "1"}}}}));
  std::string labelled;
  run_until(
      server, [](const std::string&, int) { return "Succeeded"; },
      [&] {
        const auto map = server.get(kinds::kConfigMaps, key);
        if (map) labelled = (*map)["metadata"].value("/labels"_json_pointer / kJobNameLabel, "");
        return phase() == "Completed";
      });
  EXPECT_EQ(labelled, "resnet");
  EXPECT_EQ(count(Verb::kPatch, kinds::kConfigMaps), 0u) << "the manager has no right to";
}

TEST_F(PaddleJobReconcilerTest, EndsWellWhenEveryCallFailsOnce) {
  create_job({{"worker", {{"replicas", 3}}}});
  kube::FailingCluster failing(server, kube::faults::each_once({}));
  run_to(failing, "Completed");
  EXPECT_EQ(names(kinds::kPods).size(), 3u);
  EXPECT_EQ(count(Verb::kCreate, kinds::kPods), 3u);
  EXPECT_GT(failing.injected(), 5u);
}

TEST_F(PaddleJobReconcilerTest, EndsWellWhenAnswersAreLostAndRequestsRepeated) {
  create_job({{"worker", {{"replicas", 3}}}, {"intranet", "Service"}});
  kube::FailingCluster failing(server, kube::faults::random(11, 0.2));
  run_to(failing, "Completed");
  EXPECT_EQ(names(kinds::kPods).size(), 3u);
}

TEST_F(PaddleJobReconcilerTest, AConfigMapOfAnotherOwnerIsLeftAlone) {
  ASSERT_TRUE(
      server.create(kinds::kConfigMaps, {{"apiVersion", "v1"},
                                         {"kind", "ConfigMap"},
                                         {"metadata", {{"namespace", "train"}, {"name", "resnet"}}},
                                         {"data", {{"a", "b"}}}}));
  create_job();
  run_until(
      server, [](const std::string&, int) { return "Succeeded"; },
      [&] { return reason() == "NameTaken" && has_event("NameTaken"); });
  EXPECT_EQ((*server.get(kinds::kConfigMaps, key))["data"].size(), 1u);
}

TEST_F(PaddleJobReconcilerTest, ObjectsOfAnEarlierJobOfTheSameNameAreWaitedForWithoutAWarning) {
  create_job({{"worker", {{"replicas", 1}}}});
  const ObjectKey left{"train", "resnet-worker-0"};
  ASSERT_TRUE(server.create(
      kinds::kPods,
      {{"apiVersion", "v1"},
       {"kind", "Pod"},
       {"metadata",
        {{"namespace", left.ns},
         {"name", left.name},
         {"labels", {{kJobNameLabel, "resnet"}}},
         {"ownerReferences", Json::array({Json{{"apiVersion", api::PaddleJob::kApiVersion},
                                               {"kind", api::PaddleJob::kKind},
                                               {"name", "resnet"},
                                               {"uid", "of-the-job-before"},
                                               {"controller", true}}})}}},
       {"spec", {{"containers", Json::array({Json{{"name", "main"}}})}}}}));
  bool waited = false;
  run_until(
      server, [](const std::string&, int) { return "Succeeded"; },
      [&] {
        if (reason() == "NameNotFree" && !waited) {
          waited = true;
          (void)server.remove(kinds::kPods, left);
        }
        return phase() == "Completed";
      });
  EXPECT_TRUE(waited);
  EXPECT_FALSE(has_event("NameTaken"));
}

TEST_F(PaddleJobReconcilerTest, WritesFewStatuses) {
  create_job({{"ps", {{"replicas", 2}}}});
  run_to(server, "Running", "Running");
  // Pending, Starting and Running; all other changes are written with them.
  EXPECT_LE(count(Verb::kUpdate, kinds::kPaddleJobs, "status"), 3u);
  EXPECT_EQ(count(Verb::kCreate, kinds::kPods), 4u);
  EXPECT_EQ(count(Verb::kPatch, kinds::kPods), 4u);  // each is released once
  EXPECT_EQ(count(Verb::kGet, kinds::kPods), 0u);
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
