// SPDX-License-Identifier: Apache-2.0
// Cases that the corpus (test/corpus/api) cannot express: updates of objects older than a rule, and
// hostile JSON.

#include "api/crd/validate.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::api {
namespace {

Json job(const std::string& name = "resnet") {
  return {{"apiVersion", "batch.paddlepaddle.org/v1"},
          {"kind", "PaddleJob"},
          {"metadata", {{"name", name}}},
          {"spec",
           {{"worker",
             {{"replicas", 2},
              {"template", {{"spec", {{"containers", {{{"name", "p"}, {"image", "x"}}}}}}}}}}}}};
}

std::string first(const Json& object, const Write& write = {}) {
  const auto done = first_of(validate(Kind::kPaddleJob, object, write));
  return done ? "" : done.error().message;
}

TEST(Validate, ReportsTheFirstProblemInOneSentence) {
  Json bad = job();
  bad["spec"]["worker"]["replicas"] = -1;
  EXPECT_EQ(first(bad), "spec.worker.replicas: must not be less than 0");
  bad = job();
  bad["spec"].erase("worker");
  EXPECT_EQ(first(bad), "spec: at least one of ps, worker and heter is needed");
  EXPECT_EQ(first(job()), "");
}

TEST(Validate, IgnoresProblemsInUnchangedFieldsOfAnUpdate) {
  Json old = job();
  old["spec"]["elastic"] = 1;
  old["spec"]["worker"]["limits"] = 1;  // below replicas: stored before the rule
  EXPECT_NE(first(old), "");
  Json now = old;
  now["metadata"]["labels"] = {{"a", "b"}};
  EXPECT_EQ(first(now, {.old = &old}), "");
  now["spec"]["worker"]["replicas"] = 3;  // changed: checked again
  EXPECT_NE(first(now, {.old = &old}), "");
}

TEST(Validate, ChecksNamesOnlyUntilAControllerHasWrittenStatus) {
  Json old = job(std::string(60, 'a'));
  EXPECT_NE(first(old), "");
  old["status"] = {{"phase", "Running"}};
  Json now = old;
  now["metadata"]["finalizers"] = Json::array();
  EXPECT_EQ(first(now, {.old = &old}), "");
}

TEST(Validate, DropsTheStatusOfACreate) {
  Json object = job(std::string(60, 'a'));
  object["status"] = {{"phase", "Running"}};  // would switch the name rule off
  EXPECT_NE(first(object), "");
  object = job();
  object["status"] = {{"phase", 1}};
  EXPECT_EQ(first(object), "");
}

TEST(Validate, KnowsAKindByItsName) {
  EXPECT_EQ(kind_named("SampleJob"), Kind::kSampleJob);
  EXPECT_EQ(kind_named("samplejob"), std::nullopt);
  EXPECT_NE(first_of(validate(Kind::kSampleSet, job())).error().message.find("SampleSet"),
            std::string::npos);
}

TEST(Validate, SurvivesAnyValueInAnyPlace) {
  const Json odd[] = {Json(),
                      Json(true),
                      Json(-1),
                      Json(1e308),
                      Json("\xF0\x9F\x98\x80"),
                      Json::array(),
                      Json::array({Json()}),
                      Json::object(),
                      Json{{"a", Json::array()}}};
  const Json base = job();
  const Json flat = base.flatten();
  for (const auto& [pointer, ignored] : flat.items()) {
    for (Json::json_pointer at(pointer); !at.empty(); at.pop_back()) {
      for (const Json& value : odd) {
        Json object = base;
        object[at] = value;
        for (const Kind kind : kAllKinds) {
          validate(kind, object);
          validate(kind, object, {.old = &base});
          validate(kind, base, {.old = &object, .status = true, .strict = false});
        }
      }
    }
  }
  EXPECT_EQ(validate(Kind::kPaddleJob, Json("text")).size(), 1u);
}

}  // namespace
}  // namespace paddle::api
