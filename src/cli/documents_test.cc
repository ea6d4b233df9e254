// SPDX-License-Identifier: Apache-2.0
#include "cli/documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/kinds.h"

namespace paddle::cli {
namespace {

using api::Json;
using testing::HasSubstr;

std::vector<std::string> wheres(std::string_view text) {
  const auto all = split_documents("f.yaml", text);
  EXPECT_TRUE(all) << all.error().message;
  std::vector<std::string> found;
  for (const Document& each : *all) {
    found.push_back(each.where + ": " + each.object.value("kind", std::string("?")));
  }
  return found;
}

TEST(Documents, AreSplitAndCounted) {
  EXPECT_EQ(wheres("kind: A"), std::vector<std::string>{"f.yaml: A"});
  EXPECT_EQ(wheres("---\nkind: A\n--- # next\nkind: B\n---\n# nothing\n---\n{\"kind\": \"C\"}\n"),
            (std::vector<std::string>{"f.yaml, document 1: A", "f.yaml, document 2: B",
                                      "f.yaml, document 4: C"}));
  EXPECT_EQ(wheres(""), std::vector<std::string>{});
  EXPECT_EQ(wheres("a: |\n  ---\n  x\nkind: A\n"), std::vector<std::string>{"f.yaml: A"});
}

TEST(Documents, AListIsReplacedByItsItems) {
  EXPECT_EQ(wheres("{kind: List, items: [{kind: A}, {kind: B}]}"),
            (std::vector<std::string>{"f.yaml, item 1: A", "f.yaml, item 2: B"}));
}

TEST(Documents, JsonMayHaveTabs) {
  EXPECT_EQ(wheres("{\n\t\"kind\":\t\"A\"\n}"), std::vector<std::string>{"f.yaml: A"});
}

TEST(Documents, ErrorsNameTheDocument) {
  EXPECT_THAT(split_documents("f.yaml", "kind: A\n---\na: [b").error().message,
              HasSubstr("f.yaml, document 2"));
  EXPECT_THAT(split_documents("f.yaml", "just words").error().message,
              HasSubstr("f.yaml is not an object"));
  EXPECT_THAT(read_documents("/nowhere/x.yaml").error().message, HasSubstr("/nowhere/x.yaml"));
}

Kinds kinds() {
  auto all = kinds_in(Json::parse(R"({"groupVersion": "v1", "resources": [
      {"name": "pods", "singularName": "pod", "kind": "Pod", "namespaced": true,
       "shortNames": ["po"]},
      {"name": "pods/log", "kind": "Pod", "namespaced": true}]})"));
  for (auto& kind : kinds_in(Json::parse(R"({"groupVersion": "batch.paddlepaddle.org/v1",
      "resources": [{"name": "paddlejobs", "singularName": "", "kind": "PaddleJob",
                     "namespaced": true, "shortNames": ["pdj"]}]})"))) {
    all.push_back(std::move(kind));
  }
  return Kinds(std::move(all));
}

TEST(KindNames, EveryNameOfAKindIsFound) {
  for (const char* name :
       {"paddlejobs", "paddlejob", "PaddleJob", "pdj", "paddlejobs.batch.paddlepaddle.org"}) {
    const auto kind = kinds().named(name);
    ASSERT_TRUE(kind) << name;
    EXPECT_EQ(kind->resource,
              (kube::Resource{"batch.paddlepaddle.org", "v1", "paddlejobs", "PaddleJob", true}));
    EXPECT_EQ(kind->qualified_name(), "paddlejob.batch.paddlepaddle.org");
  }
  EXPECT_EQ(kinds().named("po")->qualified_name(), "pod");
  const auto unknown = kinds().named("log");
  EXPECT_TRUE(unknown.is(Code::kNotFound));
  EXPECT_THAT(unknown.error().message, HasSubstr("known kinds are pods, paddlejobs"));
}

TEST(KindNames, AKindIsFoundByTheVersionAndKindOfAnObject) {
  EXPECT_EQ(kinds().of_object({{"apiVersion", "v1"}, {"kind", "Pod"}})->resource.plural, "pods");
  EXPECT_TRUE(kinds().of_object({{"apiVersion", "v2"}, {"kind", "Pod"}}).is(Code::kNotFound));
  EXPECT_TRUE(kinds().of_object(Json::parse(R"({"kind": "Pod"})")).is(Code::kInvalid));
}

}  // namespace
}  // namespace paddle::cli
