// SPDX-License-Identifier: Apache-2.0
#include "controllers/operator/admission_policies.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kube/fake/fake_cluster.h"

namespace paddle::controllers {
namespace {

using kube::Json;
namespace kinds = kube::resources;

void apply(kube::Cluster& cluster, const kube::Resource& resource, const std::string& name) {
  const Json made{{"apiVersion", resource.api_version()},
                  {"kind", resource.kind},
                  {"metadata", {{"name", name}}}};
  ASSERT_TRUE(cluster.create(resource, made));
}

TEST(AdmissionPolicies, EachThatIsMissingIsNamedWithWhatIsNotProtected) {
  kube::FakeCluster cluster;
  const auto all = missing_policies(cluster);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 9u);
  EXPECT_NE(all->front().find("manager-accounts.paddlepaddle.org is missing: "), std::string::npos);
}

TEST(AdmissionPolicies, APolicyCountsOnlyWithItsBinding) {
  kube::FakeCluster cluster;
  apply(cluster, kinds::kAdmissionPolicies, "node-labels.paddlepaddle.org");
  const auto before = missing_policies(cluster);
  ASSERT_TRUE(before);
  EXPECT_EQ(before->size(), 9u);
  EXPECT_NE(before->at(6).find("node-labels.paddlepaddle.org has no binding"), std::string::npos);
  apply(cluster, kinds::kAdmissionPolicyBindings, "node-labels.paddlepaddle.org");
  EXPECT_EQ(missing_policies(cluster)->size(), 8u);
}

TEST(AdmissionPolicies, AnEventAboutTheOperatorsPodNamesThem) {
  kube::FakeCluster cluster;
  Metrics metrics;
  report_missing_policies(cluster, {{"paddle-system", "manager-0"}, "uid-1"}, metrics,
                          system_clock(), {});
  std::vector<Json> events;
  ASSERT_TRUE(cluster.list(kinds::kEvents, {}, [&](std::string_view text) -> Result<> {
    events.push_back(Json::parse(text));
    return Done{};
  }));
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]["reason"], "PoliciesMissing");
  EXPECT_EQ(events[0]["involvedObject"]["uid"], "uid-1");
  const std::string message = events[0]["message"];
  EXPECT_NE(message.find("deploy/v1/policies.yaml"), std::string::npos) << message;
}

}  // namespace
}  // namespace paddle::controllers
