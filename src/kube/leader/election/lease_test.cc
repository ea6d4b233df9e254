// SPDX-License-Identifier: Apache-2.0
#include "kube/leader/election/lease.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::kube {
namespace {

using api::Json;

TEST(Lease, SurvivesARoundTripAndLeavesTheRestAlone) {
  Json object = {{"metadata", {{"name", "x"}, {"resourceVersion", "7"}, {"labels", {{"a", "b"}}}}},
                 {"spec", {{"strategy", "OldestEmulationVersion"}}}};
  const LeaseRecord record{"me", std::chrono::seconds{15}, "2023-11-14T22:13:20.000000Z",
                           "2023-11-14T22:13:21.000000Z", 3};
  edit_lease(object, record);
  const auto read = decode_lease(object);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, record);
  EXPECT_EQ(object["metadata"]["resourceVersion"], "7");
  EXPECT_EQ(object["metadata"]["labels"]["a"], "b");
  EXPECT_EQ(object["spec"]["strategy"], "OldestEmulationVersion");
}

TEST(Lease, AnEmptyLeaseIsFree) {
  const auto read = decode_lease(Json::object());
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->holder.empty());
}

TEST(Lease, AnInvalidLeaseIsAnErrorNotFree) {
  for (const char* text :
       {R"([])", R"({"spec": 3})", R"({"spec": {"holderIdentity": 3}})",
        R"({"spec": {"leaseDurationSeconds": "x"}})", R"({"spec": {"leaseDurationSeconds": -1}})",
        R"({"spec": {"leaseTransitions": 99999999999}})", R"({"spec": {"renewTime": {}}})"}) {
    EXPECT_TRUE(decode_lease(Json::parse(text)).is(Code::kInvalid)) << text;
  }
}

}  // namespace
}  // namespace paddle::kube
