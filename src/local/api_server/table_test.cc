// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/table.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "local/api_server/representation.h"

namespace paddle::local {
namespace {

using api::Json;
using std::chrono::seconds;

Json cells(const char* group, const char* version, const char* plural, const char* object) {
  const WallTime now{seconds{1'700'000'000}};
  return table_row(*find_kind(group, version, plural), Json::parse(object), RowObject::kNone,
                   now)["cells"];
}

TEST(Table, ShowsOurKindsWithTheColumnsOfTheirCrds) {
  std::string names;
  for (const auto& column : columns_of(*find_kind("batch.paddlepaddle.org", "v1", "paddlejobs"))) {
    names += column.name + (column.priority > 0 ? "(wide) " : " ");
  }
  EXPECT_EQ(names, "Name Status Mode Ready Age Restarts(wide) Reason(wide) ");
  EXPECT_EQ(cells("batch.paddlepaddle.org", "v1", "paddlejobs",
                  R"({"metadata":{"name":"a","creationTimestamp":"2023-11-14T22:13:00Z"},
                      "status":{"phase":"Running","mode":"PS","ready":"1/2","restarts":3,
                                "conditions":[{"type":"Warning","reason":"CheckSpec"},
                                              {"type":"Ready","reason":"CrashLoopBackOff"}]}})"),
            Json::parse(R"(["a","Running","PS","1/2","20s",3,"CrashLoopBackOff"])"));
  EXPECT_EQ(cells("batch.paddlepaddle.org", "v1", "paddlejobs",
                  R"({"metadata":{"name":"a","creationTimestamp":"2023-11-14T22:13:00Z"},
                      "status":{"conditions":"odd"}})"),
            Json::parse(R"(["a",null,null,null,"20s",null,null])"));
}

TEST(Table, ShowsTheStatusOfAPodAsKubectlDoes) {
  const auto status = [](const char* given) {
    Json pod{{"metadata", {{"name", "p"}}}, {"spec", {{"containers", {{{"name", "c"}}}}}}};
    pod["status"] = Json::parse(given);
    const std::string text = pod.dump();
    const Json row = cells("", "v1", "pods", text.c_str());
    return row[1].get<std::string>() + " " + row[2].get<std::string>();
  };
  EXPECT_EQ(status(R"({"phase":"Pending"})"), "0/1 Pending");
  EXPECT_EQ(status(R"({"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False",
                       "reason":"SchedulingGated"}]})"),
            "0/1 SchedulingGated");
  EXPECT_EQ(status(R"({"phase":"Running","containerStatuses":[{"ready":true,
                       "state":{"running":{}}}]})"),
            "1/1 Running");
  EXPECT_EQ(status(R"({"phase":"Succeeded","containerStatuses":[{"state":{"terminated":
                       {"exitCode":0,"reason":"Completed"}}}]})"),
            "0/1 Completed");
  EXPECT_EQ(status(R"({"phase":"Failed","containerStatuses":[{"state":{"terminated":
                       {"exitCode":3}}}]})"),
            "0/1 ExitCode:3");
  EXPECT_EQ(status(R"({"phase":"Pending","initContainerStatuses":[{"state":{"running":{}}}]})"),
            "0/1 Init:0/1");
}

TEST(Table, AcceptsObjectsOfAnyShapeForEveryKind) {
  for (const char* text :
       {"{}", "null", "[]", R"({"metadata":5,"spec":[],"status":"x","data":1,"type":{}})",
        R"({"metadata":{"creationTimestamp":"never"},"spec":{"ports":[1],"containers":3},
            "status":{"containerStatuses":[5,{"state":7}],"conditions":[null]}})"}) {
    for (const Kind& kind : all_kinds()) {
      const Json row = table_row(kind, Json::parse(text), RowObject::kNone, WallTime{});
      EXPECT_EQ(row["cells"].size(), columns_of(kind).size()) << kind.resource.plural;
    }
  }
}

TEST(Representation, FollowsTheFirstAcceptableShape) {
  using Shape = Representation::Shape;
  EXPECT_EQ(parse_accept("", "")->shape, Shape::kWhole);
  EXPECT_EQ(
      parse_accept("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", "")->shape,
      Shape::kTable);
  EXPECT_EQ(
      parse_accept("application/json;as=Table;v=v9;g=meta.k8s.io, application/json", "")->shape,
      Shape::kWhole);
  EXPECT_EQ(parse_accept("application/vnd.kubernetes.protobuf, */*", "")->shape, Shape::kWhole);
  EXPECT_FALSE(parse_accept("application/vnd.kubernetes.protobuf", ""));
}

}  // namespace
}  // namespace paddle::local
