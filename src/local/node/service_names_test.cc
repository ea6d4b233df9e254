// SPDX-License-Identifier: Apache-2.0
#include "local/node/service_names.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::local {
namespace {

using api::Json;
using Services = std::vector<std::shared_ptr<const NamedService>>;
using Pods = std::vector<std::shared_ptr<const AssignedPod>>;

std::shared_ptr<const NamedService> named_service(const std::string& name, const Json& selector) {
  return std::make_shared<const NamedService>(
      *decode_named_service({{"metadata", {{"name", name}, {"namespace", "n"}}},
                             {"spec", {{"clusterIP", "None"}, {"selector", selector}}}}));
}

AssignedPod addressed(const std::string& name, const std::string& ip) {
  AssignedPod pod{.meta = {.key = {"n", name}, .labels = {{"app", name}, {"job", "j"}}},
                  .spec = PodSpec{},
                  .phase = "Running",
                  .ip = ip};
  return pod;
}

std::shared_ptr<const AssignedPod> shared(AssignedPod pod) {
  return std::make_shared<const AssignedPod>(std::move(pod));
}

TEST(ServiceNames, TheNamesOfAServiceLeadToItsPod) {
  EXPECT_EQ(
      service_lines({named_service("w-0", {{"app", "a"}})}, {shared(addressed("a", "10.0.0.2"))}),
      "10.0.0.2\tw-0 w-0.n w-0.n.svc w-0.n.svc.cluster.local\n");
}

TEST(ServiceNames, SeveralPodsAreSeveralLinesInTheOrderOfTheirNames) {
  const Pods pods{shared(addressed("b", "10.0.0.3")), shared(addressed("a", "10.0.0.2"))};
  EXPECT_EQ(service_lines({named_service("s", {{"job", "j"}})}, pods),
            "10.0.0.2\ts s.n s.n.svc s.n.svc.cluster.local\n"
            "10.0.0.3\ts s.n s.n.svc s.n.svc.cluster.local\n");
}

TEST(ServiceNames, AServiceWithoutSelectorOrPodHasNoLine) {
  const Pods pods{shared(addressed("a", "10.0.0.2"))};
  EXPECT_EQ(service_lines({named_service("s", nullptr), named_service("t", {{"app", "x"}})}, pods),
            "");
}

TEST(ServiceNames, PodsThatHaveNoAddressOrHaveEndedDoNotCount) {
  AssignedPod ended = addressed("a", "10.0.0.2");
  ended.phase = "Succeeded";
  const Pods pods{shared(std::move(ended)), shared(addressed("b", ""))};
  EXPECT_EQ(service_lines({named_service("s", {{"job", "j"}})}, pods), "");
}

TEST(ServiceNames, APodThatIsBeingDeletedCountsOnlyWhereThereIsNoOther) {
  AssignedPod leaving = addressed("a", "10.0.0.2");
  leaving.meta.deleted = WallTime{};
  Pods pods{shared(std::move(leaving))};
  const Services services{named_service("s", {{"job", "j"}})};
  EXPECT_NE(service_lines(services, pods).find("10.0.0.2"), std::string::npos);
  pods.push_back(shared(addressed("b", "10.0.0.3")));
  EXPECT_EQ(service_lines(services, pods), "10.0.0.3\ts s.n s.n.svc s.n.svc.cluster.local\n");
}

TEST(ServiceNames, APodOfASubdomainHasANameOfItsOwn) {
  AssignedPod one = addressed("x-0", "10.0.0.2");
  one.spec->hostname = "x-0";
  one.spec->subdomain = "x";
  EXPECT_NE(service_lines({named_service("x", {{"job", "j"}})}, {shared(std::move(one))})
                .find("10.0.0.2\tx-0.x x-0.x.n x-0.x.n.svc x-0.x.n.svc.cluster.local\n"),
            std::string::npos);
}

TEST(ServiceNames, OnlyAddressesLabelsAndEndsChangeTheNamesOfOthers) {
  const AssignedPod before = addressed("a", "10.0.0.2");
  AssignedPod after = before;
  after.restarts["main"] = 3;
  EXPECT_FALSE(changes_names(&before, &after));
  after.ip = "10.0.0.9";
  EXPECT_TRUE(changes_names(&before, &after));
  EXPECT_TRUE(changes_names(&before, nullptr));
  EXPECT_TRUE(changes_names(nullptr, &after));
}

}  // namespace
}  // namespace paddle::local
