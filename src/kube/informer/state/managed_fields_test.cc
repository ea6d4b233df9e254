// SPDX-License-Identifier: Apache-2.0
#include "kube/informer/state/managed_fields.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::kube {
namespace {

std::string lean(std::string_view text) {
  std::string room;
  return std::string(without_managed_fields(text, room));
}

TEST(ManagedFields, AreCutOutAndNothingElseChanges) {
  EXPECT_EQ(
      lean(R"({"kind":"Pod","metadata":{"name":"a","managedFields":[{"manager":"x","fieldsV1":)"
           R"({"f:spec":{"k:{\"a\":\"]\"}":{}}}}],"uid":"u"},"spec":{"b":[1,2]}})"),
      R"({"kind":"Pod","metadata":{"name":"a","managedFields":[],"uid":"u"},"spec":{"b":[1,2]}})");
}

TEST(ManagedFields, AreFoundAtAnyPositionWithAnySpacing) {
  const std::string text =
      "{ \"spec\" : {\"x\": \"}\"} ,\n \"metadata\" :\t{ \"managedFields\" : [ {} ] } }";
  EXPECT_EQ(nlohmann::json::parse(lean(text)),
            nlohmann::json::parse(R"({"spec":{"x":"}"},"metadata":{"managedFields":[]}})"));
}

TEST(ManagedFields, FieldsOfThatNameElsewhereStay) {
  for (const char* text :
       {R"({"spec":{"managedFields":[1]},"metadata":{"name":"a"}})",
        R"({"spec":{"metadata":{"managedFields":[1]}},"metadata":{"name":"a"}})",
        R"({"metadata":{"annotations":{"managedFields":"[1]","x":"\"managedFields\":[1]"}}})",
        R"({"metadata":{"managedFields":null}})", R"({"metadata":{"managedFields":"x"}})"}) {
    EXPECT_EQ(lean(text), text);
  }
}

TEST(ManagedFields, ATextThatIsNoObjectIsReturnedUnchanged) {
  for (const char* text :
       {"", "{", "{}", "[]", "7", "\"metadata\"", "{\"metadata\"",
        "{\"metadata\":", "{\"metadata\":}", "{\"metadata\":{\"managedFields\":[",
        "{\"metadata\":{\"managedFields\":[}", "{]", "{,}", "{\"metadata\":{\"managedFields\"}}",
        "null"}) {
    EXPECT_EQ(lean(text), text);
  }
}

}  // namespace
}  // namespace paddle::kube
