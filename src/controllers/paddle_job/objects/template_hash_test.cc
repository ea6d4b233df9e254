// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/objects/template_hash.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

std::string hash_of(const api::PaddleJob& job, int index = 0) {
  return TemplateHash(job, replica_groups(job.spec).back()).of_pod(index);
}

TEST(TemplateHash, ItIsTheAnnotationOfACreatedPod) {
  const auto job = workers(2);
  const auto pod = manifest_of(plan_for(job, {}), "demo-worker-1");
  EXPECT_EQ(pod["metadata"]["annotations"][kTemplateHashAnnotation], hash_of(job, 1));
}

// Stored with running pods: another value would announce an edit of every running job.
TEST(TemplateHash, ItDoesNotChangeWithTheVersionOfTheOperator) {
  EXPECT_EQ(hash_of(workers(2)), "3e12cea46ac2f661");
}

TEST(TemplateHash, EveryEditThatChangesAPodChangesIt) {
  const auto job = workers(2, R"({"sampleSetRef": {"name": "s", "mountPath": "/s"}})");
  const auto edited = [&](auto change) {
    auto other = job;
    change(other.spec);
    return hash_of(other) != hash_of(job);
  };
  EXPECT_TRUE(edited([](api::PaddleJobSpec& spec) {
    api::Json pod = *spec.worker->pod_template;
    pod["spec"]["containers"][0]["image"] = "other";
    spec.worker->pod_template = api::Opaque(pod);
  }));
  EXPECT_TRUE(edited([](api::PaddleJobSpec& spec) { spec.worker->restart_policy = "OnFailure"; }));
  EXPECT_TRUE(edited([](api::PaddleJobSpec& spec) { spec.intranet = "Service"; }));
  EXPECT_TRUE(edited([](api::PaddleJobSpec& spec) { spec.sample_set->name = "other"; }));
  EXPECT_TRUE(edited([](api::PaddleJobSpec& spec) { spec.sample_set->mount_path = "/o"; }));
  EXPECT_TRUE(edited([](api::PaddleJobSpec& spec) { spec.sample_set->gate.emplace(); }));
  EXPECT_TRUE(edited([](api::PaddleJobSpec& spec) { spec.sample_set.reset(); }));
  EXPECT_TRUE(edited([](api::PaddleJobSpec& spec) {
    spec.scheduling_policy = api::SchedulingPolicy{.priority_class = "high"};
  }));

  EXPECT_FALSE(edited([](api::PaddleJobSpec& spec) { spec.worker->replicas = 5; }));
  EXPECT_FALSE(edited([](api::PaddleJobSpec& spec) { spec.backoff_limit = 5; }));
  EXPECT_FALSE(edited([](api::PaddleJobSpec& spec) { spec.suspend = true; }));
  EXPECT_FALSE(edited([](api::PaddleJobSpec& spec) {
    spec.scheduling_policy = api::SchedulingPolicy{.queue = "research"};
  }));
}

TEST(TemplateHash, OnlyWorkerZeroOfAServiceJobKnowsTheNumberOfWorkers) {
  const auto two = workers(2, R"({"intranet": "Service"})");
  const auto three = workers(3, R"({"intranet": "Service"})");
  EXPECT_NE(hash_of(two, 0), hash_of(three, 0));
  EXPECT_EQ(hash_of(two, 1), hash_of(three, 1));
  const auto elastic = [](int count) {
    return workers(count, R"({"intranet": "Service", "elastic": 1})");
  };
  EXPECT_EQ(hash_of(elastic(2), 0), hash_of(elastic(3), 0));
  auto bounded = elastic(2);
  bounded.spec.worker->limits = 4;
  EXPECT_NE(hash_of(bounded), hash_of(elastic(2))) << "trainers are told the limit";
  const std::string before = hash_of(bounded);
  bounded.spec.worker->replicas = 3;
  EXPECT_EQ(hash_of(bounded), before);
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
