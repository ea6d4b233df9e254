// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/paddle_job/objects/pod.h"

namespace paddle::controllers::paddle_job {
namespace {

using api::Json;

api::PaddleJob job_of(const std::string& intranet) {
  api::PaddleJob job;
  job.meta.key = {"t", "r"};
  job.spec.intranet = intranet;
  job.spec.worker = api::Role{.replicas = 3};
  job.status.port = 40000;
  return job;
}

std::string variables_of(const api::PaddleJob& job, RoleKind kind, int index) {
  Json env = Json::array();
  for (const ReplicaGroup& group : replica_groups(job.spec)) {
    if (group.kind == kind) add_launcher_env(env, job, group, index);
  }
  std::string out;
  for (const Json& one : env) {
    out += one.value("name", "") + "=" + one.value("value", "(address)") + " ";
  }
  return out;
}

TEST(Launcher, TheFirstWorkerOfAServiceJobKnowsItselfByItsAddress) {
  const auto job = job_of("Service");
  EXPECT_EQ(variables_of(job, RoleKind::kWorker, 0),
            "PADDLE_OWN_IP=(address) "
            "PADDLE_TRAINER_ENDPOINTS=$(PADDLE_OWN_IP):36000,r-worker-1:36000,r-worker-2:36000 ");
  EXPECT_EQ(variables_of(job, RoleKind::kWorker, 1), "");
}

TEST(Launcher, AnAddressOfIpv6IsNothingThatItCouldRead) {
  Json env = Json::array();
  const auto job = job_of("Service");
  add_launcher_env(env, job, replica_groups(job.spec).front(), 0, true);
  EXPECT_TRUE(env.empty());
}

TEST(Launcher, TrainersOfParameterServersKeepTheirNames) {
  auto job = job_of("Service");
  job.spec.ps = api::Role{.replicas = 1};
  EXPECT_EQ(variables_of(job, RoleKind::kWorker, 0), "");
  EXPECT_EQ(variables_of(job, RoleKind::kPs, 0), "");
}

TEST(Launcher, TheFirstOfAllTasksKnowsItselfAndTheOthersByTheirNames) {
  auto job = job_of("Service");
  job.spec.worker.reset();
  job.spec.tasks = {{api::Role{.replicas = 1}, "gpu-1"}, {api::Role{.replicas = 2}, "xpu"}};
  const auto groups = replica_groups(job.spec);
  Json env = Json::array();
  add_launcher_env(env, job, groups[1], 0);
  EXPECT_TRUE(env.empty());
  add_launcher_env(env, job, groups[0], 0);
  EXPECT_EQ(env[1]["value"], "$(PADDLE_OWN_IP):36000,r-xpu-0:36000,r-xpu-1:36000");
  job.spec.mode = "Single";
  env = Json::array();
  add_launcher_env(env, job, replica_groups(job.spec)[0], 0);
  EXPECT_TRUE(env.empty());
}

TEST(Launcher, OnTheHostNetworkItStaysWithinTheJobsPorts) {
  EXPECT_EQ(variables_of(job_of("Host"), RoleKind::kWorker, 1), "PORT_RANGE=40001:40017 ");
  EXPECT_EQ(variables_of(job_of(""), RoleKind::kWorker, 0), "");
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
