// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/patches.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::local {
namespace {

using api::Json;

Json merged(const char* object, const char* patch) {
  auto done = patched(Json::parse(object), PatchStyle::kStrategic, Json::parse(patch));
  return done ? *done : Json(done.error().message);
}

TEST(StrategicMerge, MergesListsByTheirKey) {
  EXPECT_EQ(merged(R"({"containers":[{"name":"a","image":"1"},{"name":"b","image":"1"}]})",
                   R"({"containers":[{"name":"b","image":"2"},{"name":"c","image":"3"}]})"),
            Json::parse(R"({"containers":[{"name":"a","image":"1"},{"name":"b","image":"2"},
                                          {"name":"c","image":"3"}]})"));
}

TEST(StrategicMerge, RemovesElementsByDirective) {
  EXPECT_EQ(merged(R"({"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"x":1})",
                   R"({"env":[{"$patch":"delete","name":"A"}],"x":null})"),
            Json::parse(R"({"env":[{"name":"B","value":"2"}]})"));
}

TEST(StrategicMerge, OrdersListsAsRequested) {
  EXPECT_EQ(merged(R"({"env":[{"name":"A"},{"name":"B"}]})",
                   R"({"$setElementOrder/env":[{"name":"C"},{"name":"B"},{"name":"A"}],
                       "env":[{"name":"C"}]})"),
            Json::parse(R"({"env":[{"name":"C"},{"name":"B"},{"name":"A"}]})"));
}

TEST(StrategicMerge, ReplacesListsWithoutAMergeKey) {
  EXPECT_EQ(merged(R"({"args":["a","b"],"m":{"x":1,"y":2}})",
                   R"({"args":["c"],"m":{"$patch":"replace","z":3}})"),
            Json::parse(R"({"args":["c"],"m":{"z":3}})"));
}

TEST(StrategicMerge, MergesFinalizersAsASet) {
  EXPECT_EQ(merged(R"({"finalizers":["a","b"]})",
                   R"({"finalizers":["b","c"],"$deleteFromPrimitiveList/finalizers":["a"]})"),
            Json::parse(R"({"finalizers":["b","c"]})"));
}

TEST(StrategicMerge, RetainsOnlyTheNamedKeys) {
  EXPECT_EQ(merged(R"({"strategy":{"type":"Rolling","rolling":{"x":1}}})",
                   R"({"strategy":{"$retainKeys":["type"],"type":"Recreate"}})"),
            Json::parse(R"({"strategy":{"type":"Recreate"}})"));
}

TEST(StrategicMerge, RejectsAnElementWithoutItsMergeKey) {
  EXPECT_FALSE(strategic_merge(Json::object(), Json::parse(R"({"env":[{"value":"1"}]})")));
}

TEST(JsonPatch, AFailingOperationIsAnErrorAndNotACrash) {
  const Json object{{"a", 1}};
  for (const char* patch :
       {R"([{"op":"test","path":"/a","value":2}])", R"([{"op":"remove","path":"/b"}])",
        R"([{"op":"add"}])", R"([{"op":"add","path":"a","value":1}])", R"([1])", R"({"a":1})",
        R"([{"op":"dance","path":"/a"}])", R"([{"op":"replace","path":"/x/y/z","value":1}])",
        R"([{"op":"add","path":1,"value":1}])", R"([{"op":"copy","path":"/b"}])"}) {
    EXPECT_FALSE(patched(object, PatchStyle::kJson, Json::parse(patch))) << patch;
  }
}

TEST(JsonPatch, RejectsAddingToAScalar) {
  const Json object = Json::parse(R"({"a":1,"x":[{"k":1},5],"n":null})");
  for (const char* patch :
       {R"([{"op":"add","path":"/a/b","value":1}])", R"([{"op":"add","path":"/n/b","value":1}])",
        R"([{"op":"copy","from":"/x","path":"/a/b"}])",
        R"([{"op":"move","from":"/x/0","path":"/x/0/y"}])",
        R"([{"op":"move","from":"/x","path":"/x/0"}])", R"([{"op":"add","path":"/x/9","value":1}])",
        R"([{"op":"add","path":"/x/q","value":1}])", R"([{"op":"remove","path":"/x/-"}])",
        R"([{"op":"remove","path":""}])", R"([{"op":"add","path":"/a~2","value":1}])"}) {
    EXPECT_FALSE(patched(object, PatchStyle::kJson, Json::parse(patch))) << patch;
  }
  EXPECT_EQ(
      *patched(object, PatchStyle::kJson, Json::parse(R"([{"op":"move","from":"/x/0","path":"/y"},
                                     {"op":"add","path":"/x/-","value":6},
                                     {"op":"copy","from":"/a","path":"/x/0"}])")),
      Json::parse(R"({"a":1,"x":[1,5,6],"n":null,"y":{"k":1}})"));
}

TEST(JsonPatch, CopiesCannotGrowWithoutBounds) {
  Json patch = Json::array();
  for (int i = 0; i < 60; ++i) {
    patch.push_back({{"op", "copy"}, {"from", "/a"}, {"path", "/a/x" + std::to_string(i)}});
  }
  const Json object{{"a", {{"text", std::string(1000, 'x')}}}};
  EXPECT_FALSE(patched(object, PatchStyle::kJson, patch));
}

TEST(JsonPatch, LimitsTheNumberOfOperations) {
  Json patch = Json::array();
  for (int i = 0; i < 2000; ++i) patch.push_back({{"op", "add"}, {"path", "/a"}, {"value", i}});
  EXPECT_FALSE(patched(Json::object(), PatchStyle::kJson, patch));
}

}  // namespace
}  // namespace paddle::local
