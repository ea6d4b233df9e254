// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/paddle_job.h"
#include "api/sample_job.h"
#include "api/sample_set.h"

namespace paddle::api {
namespace {

Json job_with(const Json& spec, const Json& status = Json::object()) {
  return {{"apiVersion", PaddleJob::kApiVersion},
          {"kind", "PaddleJob"},
          {"metadata", {{"name", "resnet"}, {"namespace", "train"}}},
          {"spec", spec},
          {"status", status}};
}

std::string complaint(const Json& object) {
  const auto decoded = decode_paddle_job(object);
  return decoded ? "none" : decoded.error().message;
}

TEST(Decode, ReadsTheFieldsUnderTheirJsonNames) {
  const auto job = decode_paddle_job(job_with(
      {{"worker", {{"replicas", 2}, {"limits", 4}}}, {"withGloo", 1}, {"cleanPodPolicy", "Never"}},
      {{"phase", "Running"}, {"worker", {{"running", 2}}}}));
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->meta.key, (ObjectKey{"train", "resnet"}));
  EXPECT_EQ(job->spec.worker->replicas, 2);
  EXPECT_EQ(job->spec.worker->limits, 4);
  EXPECT_EQ(job->spec.worker->requests, std::nullopt);
  EXPECT_EQ(job->spec.with_gloo, 1);
  EXPECT_EQ(job->spec.clean_pod_policy, "Never");
  EXPECT_FALSE(job->spec.ps);
  EXPECT_EQ(job->status.worker->running, 2);
}

TEST(Decode, NamesTheWrongFieldAndTheReason) {
  EXPECT_EQ(complaint(job_with({{"worker", {{"replicas", "2"}}}})),
            "spec.worker.replicas must be a 32-bit integer, not string");
  EXPECT_EQ(complaint(job_with({{"worker", 1}})),
            "spec.worker must be an object, not the number 1");
  EXPECT_EQ(complaint(job_with({{"worker", Json::object()}})), "spec.worker.replicas is required");
  EXPECT_EQ(complaint(job_with({}, {{"conditions", {{{"type", 1}}}}})),
            "status.conditions[0].type must be a string, not the number 1");
  EXPECT_EQ(complaint(job_with({}, {{"startTime", "noon"}})),
            "status.startTime must be an RFC 3339 time");
  EXPECT_EQ(complaint(Json::array()), "the object must be an object, not array");
}

TEST(Decode, RefusesNumbersThatDoNotFit) {
  for (const Json& number : {Json(2147483648LL), Json(-2147483649LL), Json(1.5), Json(1e300),
                             Json(std::numeric_limits<std::uint64_t>::max())}) {
    EXPECT_NE(complaint(job_with({{"elastic", number}})), "none") << number;
  }
  EXPECT_EQ(complaint(job_with({{"elastic", 2147483647}})), "none");
  EXPECT_EQ(complaint(job_with({{"elastic", 3.0}})), "none");
}

TEST(Encode, KeepsEveryUnusualSpelling) {
  const Json spec{{"ps", nullptr},
                  {"cleanPodPolicy", ""},
                  {"suspend", false},
                  {"elastic", 3.0},
                  {"stranger", {{"a", {1, nullptr}}}},
                  {"worker", {{"replicas", 0}, {"requests", nullptr}, {"x", 1}}}};
  const Json status{{"startTime", "2021-02-08T15:43:24.000+08:00"},
                    {"completionTime", "2021-02-08T15:43:24Z"},
                    {"conditions", Json::array()},
                    {"heter", Json::object()},
                    {"epoch", 0}};
  const Json object = job_with(spec, status);
  const auto job = decode_paddle_job(object);
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(dump_json(encode(*job)), dump_json(object));
  EXPECT_EQ(dump_json(encode(job->status)), dump_json(status));
}

TEST(Encode, WritesAnEditedFieldAndKeepsTheRest) {
  auto job = decode_paddle_job(job_with({{"suspend", false}, {"elastic", 3.0}, {"x", 1}}));
  ASSERT_TRUE(job);
  job->spec.suspend = true;
  EXPECT_EQ(encode(*job)["spec"], (Json{{"suspend", true}, {"elastic", 3.0}, {"x", 1}}));
  job->spec.suspend = false;
  job->spec.elastic = 4;
  EXPECT_EQ(encode(*job)["spec"], (Json{{"suspend", false}, {"elastic", 4}, {"x", 1}}));
  job->spec.elastic = {};
  EXPECT_EQ(encode(*job)["spec"], (Json{{"suspend", false}, {"x", 1}}));
}

TEST(Encode, KeepsMetadataItDoesNotModel) {
  Json object = job_with({});
  object["metadata"]["managedFields"] = {{{"manager", "kubectl"}}};
  object["metadata"]["creationTimestamp"] = nullptr;
  auto job = decode_paddle_job(object);
  ASSERT_TRUE(job);
  job->meta.finalizers = {"a/b"};
  object["metadata"]["finalizers"] = {"a/b"};
  EXPECT_EQ(encode(*job), object);
  job->meta.finalizers.clear();
  object["metadata"].erase("finalizers");
  EXPECT_EQ(encode(*job), object);
}

TEST(Encode, MakesAWholeObjectOutOfANewValue) {
  SampleSet set{.meta = {.key = {"data", "imagenet"}}, .spec = {.partitions = 2}};
  set.status.partitions = {{.index = 0, .node = "n0"}};
  EXPECT_EQ(encode(set), (Json{{"apiVersion", "batch.paddlepaddle.org/v1alpha1"},
                               {"kind", "SampleSet"},
                               {"metadata", {{"name", "imagenet"}, {"namespace", "data"}}},
                               {"spec", {{"partitions", 2}}},
                               {"status", {{"partitions", {{{"index", 0}, {"node", "n0"}}}}}}}));
}

TEST(Encode, WritesIntendedZeros) {
  JuiceFSMountOptions options{.prefetch = 0, .free_space_ratio = "0"};
  SampleSet set{.spec = {.csi = Csi{.juicefs = options}}};
  const Json out = encode(set)["spec"]["csi"]["juiceFSMountOptions"];
  EXPECT_EQ(out, (Json{{"prefetch", 0}, {"free-space-ratio", "0"}}));
}

TEST(Encode, KeepsTheMisspelledKeysThatClientsUse) {
  SampleSet set;
  set.status.cache = CacheStatus{.error_message = "no df"};
  EXPECT_EQ(encode(set.status)["cacheStatus"]["errorMassage"], "no df");
}

TEST(PaddleJobPolicy, HonoursTheMisspelledValuesOfOldExamples) {
  const auto policy = [](const char* text) {
    return effective_clean_policy({.clean_pod_policy = text});
  };
  EXPECT_EQ(policy(""), CleanPolicy::kOnCompletion);
  EXPECT_EQ(policy("OnCompletion"), CleanPolicy::kOnCompletion);
  EXPECT_EQ(policy("Always"), CleanPolicy::kAlways);
  EXPECT_EQ(policy("OnFailure"), CleanPolicy::kOnFailure);
  EXPECT_EQ(policy("Never"), CleanPolicy::kNever);
  EXPECT_EQ(policy("OnFailed"), CleanPolicy::kNever);
  EXPECT_EQ(policy("Nerver"), CleanPolicy::kNever);
  EXPECT_EQ(effective_clean_policy({.clean_policy = "Never"}), CleanPolicy::kNever);
  EXPECT_EQ(effective_clean_policy({.clean_pod_policy = "Always", .clean_policy = "Never"}),
            CleanPolicy::kAlways);
}

TEST(PaddleJobWarnings, AreGivenForAcceptedButUnintendedFields) {
  EXPECT_EQ(warnings({.spec = {.clean_pod_policy = "OnFailed"}}).size(), 1u);
  EXPECT_EQ(warnings({.spec = {.clean_pod_policy = "Nerver"}}).size(), 1u);
  EXPECT_EQ(warnings({.spec = {.with_gloo = 1}}).size(), 1u);
  EXPECT_TRUE(
      warnings({.spec = {.ps = Role{}, .clean_pod_policy = "Never", .with_gloo = 1}}).empty());
}

TEST(SampleSetDefaults, AreOnePartitionAndAnAutomaticWarmUp) {
  EXPECT_EQ(SampleSetSpec{}.effective_partitions(), 1);
  EXPECT_TRUE(SampleSetSpec{}.warms_up_by_itself());
  EXPECT_FALSE((SampleSetSpec{.warmup = AutoWarmup{.enabled = false}}).warms_up_by_itself());
}

TEST(Conditions, ChangeTheirTransitionTimeOnlyWithTheStatus) {
  const WallTime early{std::chrono::seconds{10}}, late{std::chrono::seconds{20}};
  Conditions all;
  EXPECT_TRUE(set_condition(all, {.type = "Ready", .status = "False", .reason = "A"}, early));
  EXPECT_FALSE(set_condition(all, {.type = "Ready", .status = "False", .reason = "A"}, late));
  EXPECT_TRUE(set_condition(all, {.type = "Ready", .status = "False", .reason = "B"}, late));
  EXPECT_EQ(find_condition(all, "Ready")->last_transition, early);
  EXPECT_TRUE(set_condition(all, {.type = "Ready", .status = "True", .reason = "B"}, late));
  EXPECT_EQ(find_condition(all, "Ready")->last_transition, late);
  EXPECT_EQ(find_condition(all, "Bound"), nullptr);
  EXPECT_EQ(all.size(), 1u);
}

TEST(Codec, AnEmptyObjectStaysEmpty) {
  EXPECT_EQ(encode(*decode_paddle_job(Json::object())), Json::object());
  EXPECT_EQ(encode(PaddleJob{})["kind"], "PaddleJob");
}

}  // namespace
}  // namespace paddle::api
