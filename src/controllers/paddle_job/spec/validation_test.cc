// SPDX-License-Identifier: Apache-2.0
#include "controllers/paddle_job/spec/validation.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/crd/validate.h"
#include "controllers/paddle_job/testing/plan_fixture.h"

namespace paddle::controllers::paddle_job {
namespace {

TEST(Validation, B5_AnInvalidSpecGetsAConditionAndNothingIsCreated) {
  const char* bad[] = {
      R"({"worker": {"replicas": 1, "template": {}}})",
      R"({"worker": {"replicas": 1, "template": {"spec": {"containers": []}}}})",
      R"({"elastic": 1, "ps": {"replicas": 0}})",
      R"({"worker": {"replicas": -1}})",
      R"({})",
      R"({"worker": {"replicas": 0}})",
      R"({"intranet": "Carrier pigeon", "worker": {"replicas": 1}})",
      R"({"sampleSetRef": {"name": "", "mountPath": "/d"}, "worker": {"replicas": 1}})",
      R"({"sampleSetRef": {"name": "a", "mountPath": "d:"}, "worker": {"replicas": 1}})",
      R"({"sampleSetRef": {"name": "a", "namespace": "other", "mountPath": "/d"},
          "worker": {"replicas": 1}})",
  };
  for (const char* spec : bad) {
    const auto plan = plan_for(job_with(spec), {});
    EXPECT_TRUE(plan.waves.empty()) << spec;
    ASSERT_TRUE(plan.status) << spec;
    const auto* ready = api::find_condition(plan.status->conditions, "Ready");
    ASSERT_NE(ready, nullptr) << spec;
    EXPECT_EQ(ready->status, "False") << spec;
    EXPECT_FALSE(ready->message.empty()) << spec;
    EXPECT_FALSE(plan.requeue_after) << spec;  // only another spec helps: never a hot loop
  }
  EXPECT_EQ(reason(status_after(job_with(bad[0]), {})), "InvalidSpec");
  // A job on the host network without any annotation is as good as any.
  EXPECT_TRUE(stores_first(plan_for(workers(1, R"({"intranet": "Host"})"), {})));
}

TEST(Validation, B5_ANameThatIsTooLongGetsACondition) {
  const auto job = job_with(R"({"worker": {"replicas": 1}})", std::string(60, 'a'));
  EXPECT_EQ(reason(status_after(job, {})), "InvalidSpec");
  EXPECT_TRUE(plan_for(job, {}).waves.empty());
}

TEST(Validation, AJobBesideTheOperatorCannotHaveTheAccountOfAManager) {
  const Config config{.operator_namespace = job_with("{}").meta.key.ns};
  const auto job_of = [](const std::string& field, const std::string& account) {
    return job_with((R"({"worker": {"replicas": 1, "template": {"spec": {")" + field + "\": \"" +
                     account + R"(", "containers": [{"name": "main", "image": "a"}]}}}})")
                        .c_str());
  };
  for (const char* account : {"paddle-manager-sa", "paddle-sampleset-sa", "paddle-samplejob-sa"}) {
    for (const char* field : {"serviceAccountName", "serviceAccount"}) {
      const auto error = spec_error(job_of(field, account), config);
      ASSERT_TRUE(error) << account;
      EXPECT_EQ(error->reason, "InvalidSpec");
      EXPECT_NE(error->message.find(account), std::string::npos) << error->message;
    }
  }
  EXPECT_FALSE(spec_error(job_of("serviceAccountName", "trainer"), config));
  // An account of that name in another namespace is the tenant's own.
  EXPECT_FALSE(spec_error(job_of("serviceAccountName", "paddle-manager-sa"),
                          {.operator_namespace = "elsewhere"}));
  EXPECT_FALSE(spec_error(job_of("serviceAccountName", "paddle-manager-sa"), {}));
}

TEST(Validation, AListOfPeersThatNoProgramCouldReceiveIsAnError) {
  const auto refused = [](const std::string& name, const char* spec, const Config& config = {}) {
    return peer_list_error(job_with(spec, name), config).has_value();
  };
  const std::string long_name(50, 'a');
  const char* many = R"({"intranet": "Service", "worker": {"replicas": 2500}})";
  EXPECT_TRUE(refused(long_name, many));
  EXPECT_FALSE(refused("a", many));
  const char* most = R"({"worker": {"replicas": 5000}})";
  EXPECT_FALSE(refused(long_name, most)) << "the CRD allows it";
  EXPECT_TRUE(refused("a", most, {.ipv6 = true}));
  const char* elastic = R"({"elastic": 1, "worker": {"replicas": 5000}})";
  EXPECT_FALSE(refused("a", elastic, {.etcd = {"http://e:2379"}, .ipv6 = true}));
  EXPECT_EQ(reason(status_after(job_with(many, long_name), {})), "InvalidSpec");
}

TEST(Validation, B20_TheCrdRejectsUnknownChoicesAndMisspelledOnesGetAWarning) {
  for (const char* spec : {R"({"cleanPodPolicy": "Sometimes", "worker": {"replicas": 1}})",
                           R"({"intranet": "Telegraph", "worker": {"replicas": 1}})"}) {
    EXPECT_FALSE(api::validate(api::Kind::kPaddleJob, api::encode(job_with(spec)), {}).empty());
  }
  const auto status = status_after(workers(1, R"({"cleanPodPolicy": "OnFailed"})"), {});
  EXPECT_EQ(reason(status, "Warning"), "CheckSpec");
}

}  // namespace
}  // namespace paddle::controllers::paddle_job
