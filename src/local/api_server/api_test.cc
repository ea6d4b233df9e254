// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/scratch.h"

namespace paddle::local {
namespace {

using api::Json;
using testing::HasSubstr;
using Pointer = Json::json_pointer;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kPods = "/api/v1/namespaces/default/pods";
constexpr const char* kJobs = "/apis/batch.paddlepaddle.org/v1/namespaces/default/paddlejobs";

class ApiTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = Storage::open({.directory = scratch_.path() + "/data"});
    ASSERT_TRUE(opened) << opened.error().message;
    storage_ = *std::move(opened);
    writer_.emplace(*storage_, clock_, random_);
    api_.emplace(*storage_, *writer_, clock_, ApiOptions{});
    ASSERT_TRUE(writer_->create_default_namespaces());
  }

  Reply ask(const std::string& method, const std::string& target, const std::string& body = {},
            const std::string& type = {}, const std::string& accept = {}) {
    return api_->handle({method, target, accept, type, body});
  }
  Json json(const Reply& reply) { return Json::parse(reply.body); }
  // The object that a request returns; the request must succeed.
  Json must(const std::string& method, const std::string& target, const std::string& body = {},
            const std::string& type = {}) {
    const Reply reply = ask(method, target, body, type);
    EXPECT_LT(reply.status, 300) << method << " " << target << "\n" << reply.body;
    return json(reply);
  }
  // "404 NotFound"
  std::string refused(const std::string& method, const std::string& target,
                      const std::string& body = {}, const std::string& type = {}) {
    const Reply reply = ask(method, target, body, type);
    const Json status = json(reply);
    EXPECT_EQ(status["kind"], "Status") << reply.body;
    EXPECT_EQ(status["code"], reply.status);
    return std::to_string(reply.status) + " " + status.value("reason", "");
  }
  Json make_map(const std::string& name, const Json& more = Json::object()) {
    Json object{{"metadata", {{"name", name}}}, {"data", {{"v", "1"}}}};
    object.merge_patch(more);
    return must("POST", kMaps, object.dump());
  }
  // The lines that a watch has sent so far.
  std::vector<Json> events(const Reply& reply) {
    std::vector<Json> found;
    if (!reply.stream) return found;
    StreamChunk piece = reply.stream->next(clock_.boot());
    std::istringstream lines(piece.text);
    for (std::string line; std::getline(lines, line);) found.push_back(Json::parse(line));
    return found;
  }

  Scratch scratch_;
  ManualClock clock_;
  Random random_{7};
  std::unique_ptr<Storage> storage_;
  std::optional<Writer> writer_;
  std::optional<Api> api_;
};

std::string job(const std::string& name, int workers) {
  return Json{
      {"apiVersion", "batch.paddlepaddle.org/v1"},
      {"kind", "PaddleJob"},
      {"metadata", {{"name", name}}},
      {"spec",
       {{"worker",
         {{"replicas", workers},
          {"template",
           {{"spec", {{"containers", {{{"name", "main"}, {"image", "example.org/p:1"}}}}}}}}}}}}}
      .dump();
}

TEST_F(ApiTest, DiscoveryNamesEveryKind) {
  EXPECT_EQ(must("GET", "/api")["versions"][0], "v1");
  std::string groups;
  const Json all = must("GET", "/apis");
  for (const Json& group : all["groups"]) {
    groups += group["name"].get<std::string>() + " ";
  }
  EXPECT_EQ(groups, "apps coordination.k8s.io batch.paddlepaddle.org policy ");
  EXPECT_GE(must("GET", "/api/v1")["resources"].size(), 10U);
  EXPECT_EQ(must("GET", "/apis/batch.paddlepaddle.org")["versions"].size(), 2U);
  const Json ours = must("GET", "/apis/batch.paddlepaddle.org/v1")["resources"];
  EXPECT_EQ(ours[0]["shortNames"][0], "pdj");
  EXPECT_EQ(refused("GET", "/apis/none.example.org/v1"), "404 NotFound");
  EXPECT_TRUE(must("GET", "/openapi/v3/api/v1").contains("paths"));
  EXPECT_EQ(ask("GET", "/readyz").body, "ok");
}

TEST_F(ApiTest, FailuresLookLikeTheRealServers) {
  const Json status = json(ask("GET", std::string(kMaps) + "/none"));
  EXPECT_EQ(status["message"], "configmaps \"none\" not found");
  EXPECT_EQ(status["details"], Json::parse(R"({"name":"none","kind":"configmaps"})"));
  make_map("a");
  EXPECT_EQ(refused("POST", kMaps, R"({"metadata":{"name":"a"}})"), "409 AlreadyExists");
  EXPECT_EQ(refused("POST", kMaps, R"({"metadata":{"name":"Bad_Name"}})"), "422 Invalid");
  EXPECT_EQ(refused("POST", kMaps, "{"), "400 BadRequest");
  EXPECT_EQ(refused("POST", kMaps, "[]"), "400 BadRequest");
  EXPECT_EQ(refused("POST", kMaps, R"({"metadata":{"name":"b","namespace":"other"}})"),
            "400 BadRequest");
  EXPECT_EQ(refused("POST", kMaps, "{}", "application/vnd.kubernetes.protobuf"),
            "415 UnsupportedMediaType");
  EXPECT_EQ(refused("POST", "/api/v1/namespaces/none/configmaps", R"({"metadata":{"name":"a"}})"),
            "404 NotFound");
  EXPECT_EQ(refused("PUT", kMaps, "{}"), "405 MethodNotAllowed");
  EXPECT_EQ(refused("BREW", kMaps), "405 MethodNotAllowed");
  EXPECT_EQ(refused("GET", "/api/v1/widgets"), "404 NotFound");
  EXPECT_EQ(refused("GET", std::string(kMaps) + "/a/status"), "404 NotFound");
  EXPECT_EQ(refused("GET", std::string(kMaps) + "?limit=x"), "400 BadRequest");
  EXPECT_EQ(refused("GET", std::string(kMaps) + "?continue=%21"), "400 BadRequest");
  EXPECT_EQ(refused("GET", std::string(kMaps) + "?labelSelector=a%20b%20c"), "400 BadRequest");
  EXPECT_EQ(refused("GET", std::string(kMaps) + "?resourceVersion=999999"), "504 Timeout");
  EXPECT_EQ(refused("DELETE", std::string(kMaps) + "/a", R"({"propagationPolicy":"Maybe"})"),
            "400 BadRequest");
}

TEST_F(ApiTest, LimitsOfLabelsAndDataAreThoseOfARealServer) {
  constexpr const char* kSecrets = "/api/v1/namespaces/default/secrets";
  EXPECT_EQ(refused("POST", kMaps, R"({"metadata":{"name":"a","labels":{"bad key!":"x"}}})"),
            "422 Invalid");
  EXPECT_EQ(refused("POST", kJobs, R"({"apiVersion":"batch.paddlepaddle.org/v1","kind":"PaddleJob",
      "metadata":{"name":"a","labels":{"bad key!":"x"}}})"),
            "422 Invalid");
  EXPECT_EQ(refused("POST", kSecrets, R"({"metadata":{"name":"a"},"data":{"k":"%%%"}})"),
            "422 Invalid");
  EXPECT_EQ(refused("POST", kMaps,
                    R"({"metadata":{"name":"a"},"data":{"k":")" +
                        std::string(std::size_t{2} << 20, 'x') + R"("}})"),
            "422 Invalid");
  make_map("a");
  EXPECT_EQ(refused("PUT", std::string(kMaps) + "/a",
                    R"({"metadata":{"name":"a","annotations":{"k":")" + std::string(300'000, 'x') +
                        R"("}}})"),
            "422 Invalid");
}

TEST_F(ApiTest, ADeletedPodIsReturned) {
  must("POST", kPods,
       R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}})");
  const Json deleted = must("DELETE", std::string(kPods) + "/p");
  EXPECT_EQ(deleted["kind"], "Pod");
  EXPECT_EQ(deleted["metadata"]["name"], "p");
}

TEST_F(ApiTest, WhatOneMachineDoesNotHaveIsSaidInASentence) {
  for (const char* part : {"exec?command=ls", "attach", "portforward"}) {
    const Reply reply = ask("POST", std::string("/api/v1/namespaces/default/pods/p/") + part);
    EXPECT_EQ(reply.status, 501) << part;
    EXPECT_THAT(json(reply)["message"].get<std::string>(),
                HasSubstr("not supported on one machine"));
  }
}

TEST_F(ApiTest, LogsOfAPodOfSeveralContainersNeedAName) {
  const LogSource logs = [](const LogRequest& request) -> Result<std::shared_ptr<Stream>> {
    return Error{Code::kNotFound, "log of " + request.container};
  };
  api_.emplace(*storage_, *writer_, clock_, ApiOptions{.logs = logs});
  must("POST", kPods, R"({"metadata":{"name":"p"},"spec":{"containers":[
      {"name":"a","image":"i"},{"name":"b","image":"i"}]}})");
  const Reply reply = ask("GET", std::string(kPods) + "/p/log");
  EXPECT_EQ(reply.status, 400);
  EXPECT_THAT(json(reply)["message"].get<std::string>(), HasSubstr("choose one of: [a b]"));
  EXPECT_THAT(ask("GET", std::string(kPods) + "/p/log?container=b").body, HasSubstr("log of b"));
  EXPECT_EQ(refused("GET", std::string(kPods) + "/p/log?container=b&timestamps=true"),
            "400 BadRequest");
}

TEST_F(ApiTest, HostileBodiesAreRejectedAndNotStored) {
  const std::string deep = std::string(5000, '[') + std::string(5000, ']');
  EXPECT_EQ(refused("POST", kMaps, R"({"metadata":{"name":"a"},"data":)" + deep + "}"),
            "400 BadRequest");
  std::string nested = "1";
  for (int i = 0; i < 110; ++i) nested = R"({"x":)" + nested + "}";
  EXPECT_EQ(refused("POST", kMaps, R"({"metadata":{"name":"a"},"data":)" + nested + "}"),
            "400 BadRequest");
  for (const char* meta :
       {R"({"name":5})", R"({"name":"a","labels":[1]})", R"({"name":"a","ownerReferences":[5]})",
        R"({"name":"a","finalizers":{"a":1}})", R"("text")"}) {
    const Reply reply = ask("POST", kMaps, std::string(R"({"metadata":)") + meta + "}");
    EXPECT_GE(reply.status, 400) << meta;
    EXPECT_LT(reply.status, 500) << meta;
  }
  EXPECT_TRUE(must("GET", kMaps)["items"].empty());
}

TEST_F(ApiTest, ListsComeInPagesOfOneRevision) {
  for (const char* name : {"a", "b", "c", "d"}) make_map(name);
  const Json first = must("GET", std::string(kMaps) + "?limit=2");
  EXPECT_EQ(first["items"].size(), 2U);
  make_map("bb");
  must("DELETE", std::string(kMaps) + "/d");
  std::string token = first["metadata"]["continue"].get<std::string>();
  for (size_t at; (at = token.find('=')) != std::string::npos;) token.replace(at, 1, "%3D");
  for (size_t at; (at = token.find('+')) != std::string::npos;) token.replace(at, 1, "%2B");
  const Json second = must("GET", std::string(kMaps) + "?limit=5&continue=" + token);
  EXPECT_EQ(second["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
  ASSERT_EQ(second["items"].size(), 2U);
  EXPECT_EQ(second["items"][1]["metadata"]["name"], "d");
  EXPECT_FALSE(second["metadata"].contains("continue"));
  ASSERT_TRUE(storage_->compact());
  make_map("e");
  EXPECT_EQ(refused("GET", std::string(kMaps) + "?limit=5&continue=" + token), "410 Expired");
}

TEST_F(ApiTest, OurKindsAreValidatedAndDefaulted) {
  const Json stored = must("POST", kJobs, job("train", 2));
  EXPECT_EQ(stored["metadata"]["generation"], 1);
  const Reply bad = ask("POST", kJobs, job("other", -1));
  EXPECT_EQ(bad.status, 422) << bad.body;
  EXPECT_THAT(json(bad)["message"].get<std::string>(),
              HasSubstr("PaddleJob.batch.paddlepaddle.org \"other\" is invalid"));
  EXPECT_FALSE(json(bad)["details"]["causes"].empty());
}

TEST_F(ApiTest, UnknownFieldsAreHandledAsFieldValidationRequests) {
  Json wrong = Json::parse(job("train", 1));
  wrong["spec"]["wrongField"] = 1;
  EXPECT_EQ(refused("POST", std::string(kJobs) + "?fieldValidation=Strict", wrong.dump()),
            "400 BadRequest");
  const Reply warned = ask("POST", std::string(kJobs) + "?fieldValidation=Warn", wrong.dump());
  EXPECT_EQ(warned.status, 201) << warned.body;
  ASSERT_EQ(warned.warnings.size(), 1U);
  EXPECT_THAT(warned.warnings[0], HasSubstr("spec.wrongField"));
  EXPECT_FALSE(json(warned)["spec"].contains("wrongField"));
}

TEST_F(ApiTest, StatusIsWrittenThroughItsSubresource) {
  must("POST", kJobs, job("train", 2));
  const std::string path = std::string(kJobs) + "/train";
  must("PATCH", path, R"({"status":{"phase":"Running"}})", "application/merge-patch+json");
  EXPECT_FALSE(must("GET", path).contains(Pointer("/status/phase")));
  must("PATCH", path + "/status", R"({"status":{"phase":"Running"},"spec":{"withGloo":1}})",
       "application/merge-patch+json");
  const Json now = must("GET", path);
  EXPECT_EQ(now["status"]["phase"], "Running");
  EXPECT_FALSE(now["spec"].contains("withGloo"));
  EXPECT_EQ(now["metadata"]["generation"], 1);
  EXPECT_EQ(must("GET", path + "/scale")["spec"]["replicas"], 2);
  must("PATCH", path + "/scale", R"({"spec":{"replicas":3}})", "application/merge-patch+json");
  EXPECT_EQ(must("GET", path)["spec"]["worker"]["replicas"], 3);
}

TEST_F(ApiTest, StrategicMergeIsForBuiltInKindsOnly) {
  must("POST", kJobs, job("train", 2));
  EXPECT_EQ(refused("PATCH", std::string(kJobs) + "/train", "{}",
                    "application/strategic-merge-patch+json"),
            "415 UnsupportedMediaType");
  make_map("a");
  must("PATCH", std::string(kMaps) + "/a", R"({"data":{"v":"2"}})",
       "application/strategic-merge-patch+json");
  EXPECT_EQ(must("GET", std::string(kMaps) + "/a")["data"]["v"], "2");
}

TEST_F(ApiTest, ADryRunAnswersAndChangesNothing) {
  EXPECT_EQ(must("POST", std::string(kMaps) + "?dryRun=All",
                 R"({"metadata":{"name":"a"}})")["metadata"]["name"],
            "a");
  EXPECT_EQ(refused("GET", std::string(kMaps) + "/a"), "404 NotFound");
  make_map("b");
  must("DELETE", std::string(kMaps) + "/b?dryRun=All");
  must("GET", std::string(kMaps) + "/b");
}

TEST_F(ApiTest, AWatchShowsChangesAfterItsRevision) {
  const std::string revision = make_map("a")["metadata"]["resourceVersion"];
  const Reply watch =
      ask("GET", std::string(kMaps) + "?watch=1&labelSelector=x&resourceVersion=" + revision);
  ASSERT_TRUE(watch.stream);
  EXPECT_TRUE(watch.stream->is_interested_in("/configmaps"));
  EXPECT_TRUE(events(watch).empty());
  const std::string labels = R"({"metadata":{"labels":{"x":"1"}}})";
  must("PATCH", std::string(kMaps) + "/a", labels, "application/merge-patch+json");
  make_map("unlabelled");
  must("PATCH", std::string(kMaps) + "/a", R"({"metadata":{"labels":null}})",
       "application/merge-patch+json");
  const auto seen = events(watch);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0]["type"], "ADDED");
  EXPECT_EQ(seen[1]["type"], "DELETED");
  EXPECT_EQ(seen[1]["object"]["metadata"]["labels"]["x"], "1");
}

TEST_F(ApiTest, AWatchWithoutARevisionStartsWithExistingObjects) {
  make_map("a");
  const auto seen = events(ask("GET", std::string(kMaps) + "?watch=1&sendInitialEvents=true&"
                                                           "resourceVersionMatch=NotOlderThan&"
                                                           "allowWatchBookmarks=true"));
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0]["type"], "ADDED");
  EXPECT_EQ(seen[1]["type"], "BOOKMARK");
  EXPECT_EQ(seen[1]["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
}

TEST_F(ApiTest, AWatchOfACompactedRevisionEndsWithAnError) {
  const std::string revision = make_map("a")["metadata"]["resourceVersion"];
  make_map("b");
  ASSERT_TRUE(storage_->compact());
  const auto seen = events(ask("GET", std::string(kMaps) + "?watch=1&resourceVersion=" + revision));
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0]["type"], "ERROR");
  EXPECT_EQ(seen[0]["object"]["code"], 410);
}

TEST_F(ApiTest, AWatchSendsBookmarksAndEndsInTime) {
  const Reply watch = ask("GET", std::string(kMaps) +
                                     "?watch=1&allowWatchBookmarks=true&resourceVersion=1&"
                                     "timeoutSeconds=100");
  events(watch);
  clock_.advance(std::chrono::seconds{61});
  const auto seen = events(watch);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0]["type"], "BOOKMARK");
  clock_.advance(std::chrono::seconds{61});
  events(watch);
  EXPECT_TRUE(watch.stream->next(clock_.boot()).ended);
}

TEST_F(ApiTest, DependentsAreDeletedWithTheirOwner) {
  const auto owned_by = [&](const Json& owner) {
    return Json{{"metadata",
                 {{"ownerReferences",
                   {{{"apiVersion", "v1"},
                     {"kind", "ConfigMap"},
                     {"name", owner["metadata"]["name"]},
                     {"uid", owner["metadata"]["uid"]}}}}}}};
  };
  const Json owner = make_map("owner");
  make_map("child", owned_by(owner));
  must("DELETE", std::string(kMaps) + "/owner");
  EXPECT_EQ(refused("GET", std::string(kMaps) + "/child"), "404 NotFound");

  const Json second = make_map("owner");
  make_map("child", owned_by(second));
  must("DELETE", std::string(kMaps) + "/owner", R"({"propagationPolicy":"Orphan"})");
  EXPECT_FALSE(must("GET", std::string(kMaps) + "/child")["metadata"].contains("ownerReferences"));

  Json held = owned_by(make_map("owner"));
  held["metadata"]["finalizers"] = {"test/hold"};
  make_map("held", held);
  must("DELETE", std::string(kMaps) + "/owner?propagationPolicy=Foreground");
  EXPECT_TRUE(must("GET", std::string(kMaps) + "/owner")["metadata"].contains("deletionTimestamp"));
  must("PATCH", std::string(kMaps) + "/held", R"({"metadata":{"finalizers":null}})",
       "application/merge-patch+json");
  EXPECT_EQ(refused("GET", std::string(kMaps) + "/held"), "404 NotFound");
  EXPECT_EQ(refused("GET", std::string(kMaps) + "/owner"), "404 NotFound");

  Json late = owned_by(second);  // its owner is deleted before it is created
  make_map("late", late);
  ASSERT_TRUE(writer_->collect_garbage());
  EXPECT_EQ(refused("GET", std::string(kMaps) + "/late"), "404 NotFound");
}

TEST_F(ApiTest, DeletingANamespaceDeletesItsObjects) {
  must("POST", "/api/v1/namespaces", R"({"metadata":{"name":"team"}})");
  const std::string maps = "/api/v1/namespaces/team/configmaps";
  must("POST", maps, R"({"metadata":{"name":"a"}})");
  must("POST", maps, R"({"metadata":{"name":"held","finalizers":["test/hold"]}})");
  must("DELETE", "/api/v1/namespaces/team");
  EXPECT_EQ(must("GET", "/api/v1/namespaces/team")["status"]["phase"], "Terminating");
  EXPECT_EQ(refused("GET", maps + "/a"), "404 NotFound");
  EXPECT_EQ(refused("POST", maps, R"({"metadata":{"name":"b"}})"), "403 Forbidden");
  must("PATCH", maps + "/held", R"({"metadata":{"finalizers":[]}})",
       "application/merge-patch+json");
  EXPECT_EQ(refused("GET", "/api/v1/namespaces/team"), "404 NotFound");
  EXPECT_EQ(refused("DELETE", "/api/v1/namespaces/default"), "403 Forbidden");
}

TEST_F(ApiTest, SpecAndStatusAreObjectsOrAbsent) {
  must("POST", "/api/v1/namespaces", R"({"metadata":{"name":"team"}})");
  const std::string path = "/api/v1/namespaces/team";
  for (const char* status : {R"("text")", "5", "[]"}) {
    EXPECT_EQ(refused("PATCH", path + "/status", std::string(R"({"status":)") + status + "}",
                      "application/merge-patch+json"),
              "422 Invalid")
        << status;
  }
  must("PATCH", path + "/status", R"([{"op":"replace","path":"/status","value":null}])",
       "application/json-patch+json");
  must("DELETE", path);
}

TEST_F(ApiTest, ACollectionCanBeDeletedBySelector) {
  make_map("a", {{"metadata", {{"labels", {{"x", "1"}}}}}});
  make_map("b");
  must("DELETE", std::string(kMaps) + "?labelSelector=x%3D1");
  const Json left = must("GET", kMaps)["items"];
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0]["metadata"]["name"], "b");
}

TEST_F(ApiTest, PodsAreBoundOnce) {
  must("POST", kPods, R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c"}]}})");
  const std::string path = std::string(kPods) + "/p/binding";
  EXPECT_EQ(ask("POST", path, R"({"target":{"name":"here"}})").status, 201);
  EXPECT_EQ(must("GET", std::string(kPods) + "/p")["spec"]["nodeName"], "here");
  EXPECT_EQ(refused("POST", path, R"({"target":{"name":"there"}})"), "409 Conflict");
  EXPECT_EQ(refused("POST", kPods, R"({"metadata":{"name":"q"},"spec":{}})"), "422 Invalid");
}

TEST_F(ApiTest, ThePodOfARunningProcessKeepsItsCommand) {
  must(
      "POST", kPods,
      R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"a","command":["x"]}]}})");
  const std::string pod = std::string(kPods) + "/p";
  const std::string merge = "application/merge-patch+json";
  const std::string strategic = "application/strategic-merge-patch+json";
  EXPECT_EQ(
      refused("PATCH", pod, R"({"spec":{"containers":[{"name":"c","command":["y"]}]}})", strategic),
      "422 Invalid");
  EXPECT_EQ(refused("PATCH", pod, R"({"spec":{"restartPolicy":"Never"}})", merge), "422 Invalid");
  EXPECT_EQ(must("GET", pod)["spec"]["containers"][0]["command"], Json({"x"}));
  must("PATCH", pod, R"({"spec":{"containers":[{"name":"c","image":"b"}]}})", strategic);
  must("PATCH", pod, R"({"metadata":{"labels":{"a":"b"}}})", merge);
  must("PATCH", pod + "/status", R"({"status":{"phase":"Running"}})", merge);
  must("PUT", pod, must("GET", pod).dump());
  EXPECT_EQ(must("GET", pod)["spec"]["containers"][0]["image"], "b");
}

TEST_F(ApiTest, ANameThatIsMissingOrWrongIsExplained) {
  const auto message = [&](const char* body) {
    return json(ask("POST", kMaps, body)).value("message", "");
  };
  EXPECT_THAT(message(R"({"metadata":{}})"), HasSubstr("name or generateName is required"));
  EXPECT_THAT(message(R"({"metadata":{"name":"My_map"}})"),
              HasSubstr("\"My_map\": a lowercase RFC 1123 subdomain must consist of"));
}

TEST_F(ApiTest, AnEvictionDeletesItsPodByTheOptionsThatItHas) {
  must("POST", kPods, R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c"}]}})");
  const std::string pod = std::string(kPods) + "/p";
  const std::string path = pod + "/eviction";
  EXPECT_EQ(refused("POST", path, R"({"deleteOptions":{"preconditions":{"uid":"other"}}})"),
            "409 Conflict");
  EXPECT_EQ(ask("POST", path, R"({"deleteOptions":{"dryRun":["All"]}})").status, 201);
  EXPECT_EQ(must("GET", pod)["metadata"]["name"], "p");
  EXPECT_EQ(refused("GET", path), "405 MethodNotAllowed");
  EXPECT_EQ(ask("POST", path, R"({"kind":"Eviction"})").status, 201);
  EXPECT_EQ(refused("GET", pod), "404 NotFound");
  EXPECT_EQ(refused("POST", path, "{}"), "404 NotFound");
}

TEST_F(ApiTest, SecretsTakePlainTextAndKeepItEncoded) {
  const Json stored = must("POST", "/api/v1/namespaces/default/secrets",
                           R"({"metadata":{"name":"s"},"stringData":{"k":"v"}})");
  EXPECT_EQ(stored["data"]["k"], "dg==");
  EXPECT_EQ(stored["type"], "Opaque");
  EXPECT_FALSE(stored.contains("stringData"));
}

TEST_F(ApiTest, EventsAreRemovedAfterAnHour) {
  const std::string events = "/api/v1/namespaces/default/events";
  must("POST", events, R"({"metadata":{"name":"e"},"involvedObject":{"name":"p","kind":"Pod"}})");
  EXPECT_EQ(must("GET", events + "?fieldSelector=involvedObject.name%3Dp")["items"].size(), 1U);
  EXPECT_EQ(must("GET", events + "?fieldSelector=involvedObject.name%3Dq")["items"].size(), 0U);
  clock_.advance(std::chrono::minutes{59});
  ASSERT_TRUE(writer_->collect_garbage());
  must("GET", events + "/e");
  clock_.advance(std::chrono::minutes{2});
  ASSERT_TRUE(writer_->collect_garbage());
  EXPECT_EQ(refused("GET", events + "/e"), "404 NotFound");
}

}  // namespace
}  // namespace paddle::local
