// SPDX-License-Identifier: Apache-2.0
// Our CRDs on a real API server: they install as users install them, kubectl shows the columns of
// the contract, and the server accepts and refuses the objects of the corpus as our own validation
// does.

#include "test/integration/api_corpus.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/crd/crd.h"
#include "api/crd/validate.h"
#include "net/http_client.h"
#include "test/support/control_plane.h"
#include "test/support/eventually.h"

namespace paddle::test {
namespace {

using api::Json;
using api::Kind;

std::string dumped(const Json& value) { return api::dump_json(value); }

// One control plane with our CRDs for all tests of this file.
class ApiServer : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto started = ControlPlane::start();
    ASSERT_TRUE(started) << started.error().message;
    shared_plane = std::move(*started);
    shared_http = std::make_unique<net::HttpClient>(
        net::HttpOptions{.tls = {.ca_file = shared_plane->ca_path()}, .proxy = ""});
    crds_applied = kubectl({"apply", "-f", kCrdFile});
    const std::vector<std::string> established{"wait", "--for=condition=Established", "crd",
                                               "--all"};
    ASSERT_TRUE(eventually([&] { return kubectl(established).exit_code == 0; }))
        << crds_applied.err;
  }
  static void TearDownTestSuite() {
    shared_http.reset();
    shared_plane.reset();
  }

  static ControlPlane::Ran kubectl(const std::vector<std::string>& args, const Json& input = {}) {
    return shared_plane->kubectl(args, input.is_null() ? "" : dumped(input));
  }

  static std::string url(Kind kind, const std::string& rest = {}) {
    const auto& about = api::describe(kind);
    return shared_plane->url() + "/apis/" + about.api_version() + "/namespaces/default/" +
           about.plural + rest;
  }

  static net::HttpReply send(const std::string& method, const std::string& to, const Json& body) {
    auto reply =
        shared_http->send({.method = method,
                           .url = to,
                           .headers = {{"Authorization", "Bearer " + shared_plane->token()},
                                       {"Content-Type", "application/json"}},
                           .body = body.is_null() ? "" : dumped(body)});
    EXPECT_TRUE(reply) << reply.error().message;
    return reply ? *std::move(reply) : net::HttpReply{};
  }

  // Creates `old` at the server, status included, and returns it as stored.
  static Json put_in_place(const CorpusCase& one) {
    net::HttpReply made = send("POST", url(one.kind), *one.old);
    EXPECT_EQ(made.status, 201) << one.name << ": " << made.body;
    Json stored = Json::parse(made.body, nullptr, false);
    if (!one.old->contains("status")) return stored;
    stored["status"] = (*one.old)["status"];
    made = send("PUT", url(one.kind, "/" + name_of(stored) + "/status"), stored);
    EXPECT_EQ(made.status, 200) << one.name << ": " << made.body;
    return Json::parse(made.body, nullptr, false);
  }

  static std::string name_of(const Json& object) { return object["metadata"]["name"]; }

  static net::HttpReply ask(const CorpusCase& one) {
    const std::string strictly = "?dryRun=All&fieldValidation=Strict";
    if (!one.old) return send("POST", url(one.kind, strictly), *one.object);
    const Json stored = put_in_place(one);
    Json wanted = *one.object;
    wanted["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"];
    const std::string name = "/" + name_of(stored);
    auto reply =
        send("PUT", url(one.kind, name + (one.status ? "/status" : "") + strictly), wanted);
    EXPECT_EQ(send("DELETE", url(one.kind, name), {}).status, 200) << one.name;
    return reply;
  }

  static inline const std::string kCrdFile = std::string(PADDLE_SOURCE_DIR) + "/deploy/v1/crd.yaml";
  static inline std::unique_ptr<ControlPlane> shared_plane{};
  static inline std::unique_ptr<net::HttpClient> shared_http{};
  static inline ControlPlane::Ran crds_applied{};
};

TEST_F(ApiServer, InstallsTheCrdsByClientSideApplyAndASecondTimeChangesNothing) {
  EXPECT_EQ(crds_applied.exit_code, 0) << crds_applied.err;
  const auto again = kubectl({"apply", "-f", kCrdFile});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  for (const Kind kind : api::kAllKinds) {
    const std::string name = api::describe(kind).plural + "." + api::kGroup;
    EXPECT_NE(again.out.find(name + " unchanged"), std::string::npos) << again.out;
  }
}

TEST_F(ApiServer, StoresTheSchemaWeGeneratedAndFindsNoFaultInIt) {
  for (const Kind kind : api::kAllKinds) {
    const auto& about = api::describe(kind);
    const auto got = kubectl({"get", "crd", about.plural + "." + api::kGroup, "-o", "json"});
    const Json crd = Json::parse(got.out, nullptr, false);
    EXPECT_EQ(crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"], *about.schema);
    std::map<std::string, std::string> conditions;
    for (const Json& c : crd["status"]["conditions"]) conditions[c["type"]] = c["status"];
    EXPECT_EQ(conditions, (std::map<std::string, std::string>{{"Established", "True"},
                                                              {"NamesAccepted", "True"}}));
  }
}

TEST_F(ApiServer, AcceptsEveryExampleUnderStrictValidation) {
  ASSERT_EQ(kubectl({"create", "namespace", "paddle-system"}).exit_code, 0);
  const std::string deploy = std::string(PADDLE_SOURCE_DIR) + "/deploy/";
  const auto taken =
      kubectl({"apply", "--dry-run=server", "--validate=strict", "-f", deploy + "examples", "-f",
               deploy + "elastic", "-f", deploy + "heter"});
  EXPECT_EQ(taken.exit_code, 0) << taken.err;
  EXPECT_EQ(taken.err, "") << "a warning";
  EXPECT_NE(taken.out.find("paddlejob.batch.paddlepaddle.org/resnet-elastic created"),
            std::string::npos)
      << taken.out;
}

TEST_F(ApiServer, AcceptsAndRefusesTheObjectsOfTheCorpusAsWeDo) {
  int asked = 0;
  for (const CorpusCase& one : read_corpus()) {
    const auto reply = ask(one);
    ++asked;
    const bool accepted = reply.status == 200 || reply.status == 201;
    EXPECT_TRUE(accepted || reply.status == 400 || reply.status == 422) << reply.status;
    const auto ours =
        api::validate(one.kind, *one.object, {.old = one.old.get(), .status = one.status});
    EXPECT_EQ(accepted, ours.empty()) << "DISAGREEMENT on '" << one.name << "': the server says "
                                      << reply.status << " " << reply.body;
    EXPECT_EQ(accepted, one.good) << one.name << ": " << reply.body;
  }
  EXPECT_GE(asked, 150);
}

// The server stores what our normalization predicts.
TEST_F(ApiServer, NormalizesGoodObjectsAsWeDo) {
  for (const CorpusCase& one : read_corpus()) {
    if (!one.good || one.old) continue;
    const Json stored = Json::parse(ask(one).body, nullptr, false);
    EXPECT_EQ(stored.value("spec", Json()), api::normalized(one.kind, *one.object)["spec"])
        << one.name;
  }
}

TEST_F(ApiServer, RefusesATypoInAContainerAtKubectlApply) {
  for (const CorpusCase& one : read_corpus()) {
    if (one.name != "imagee") continue;
    const auto ran = kubectl({"apply", "-f", "-"}, *one.object);
    EXPECT_NE(ran.exit_code, 0);
    EXPECT_NE(ran.err.find("imagee"), std::string::npos) << ran.err;
  }
}

Json job(const std::string& name) {
  for (const CorpusCase& one : read_corpus()) {
    if (one.name != "resnet") continue;
    Json object = *one.object;
    object["metadata"]["name"] = name;
    return object;
  }
  return {};
}

TEST_F(ApiServer, ShowsTheColumnsOfTheContractUnderShortNames) {
  ASSERT_EQ(kubectl({"apply", "-f", "-"}, job("columns")).exit_code, 0);
  const auto patched =
      kubectl({"patch", "pdj", "columns", "--subresource=status", "--type=merge", "-p",
               R"({"status":{"phase":"Running","mode":"Collective","ready":"1/2",
                                     "restarts":3,"conditions":[{"type":"Ready","status":"False",
                                     "reason":"CrashLoopBackOff","message":"m",
                                     "lastTransitionTime":"2021-02-08T07:43:24Z"}]}})"});
  ASSERT_EQ(patched.exit_code, 0) << patched.err;
  const auto jobs = kubectl({"get", "pdj"});
  EXPECT_TRUE(jobs.out.starts_with("NAME      STATUS    MODE         READY   AGE")) << jobs.out;
  EXPECT_NE(jobs.out.find("columns   Running   Collective   1/2"), std::string::npos) << jobs.out;
  const auto wide = kubectl({"get", "pdj", "-o", "wide"});
  EXPECT_NE(wide.out.find("AGE   RESTARTS   REASON"), std::string::npos) << wide.out;
  EXPECT_NE(wide.out.find("3          CrashLoopBackOff"), std::string::npos) << wide.out;

  const auto columns = [](const std::string& short_name) {
    return kubectl({"get", short_name, "-o", "wide"}).out;
  };
  for (const CorpusCase& one : read_corpus()) {
    if (one.name != "the tutorial's" && one.name != "the tutorial's rmr") continue;
    ASSERT_EQ(kubectl({"apply", "-f", "-"}, *one.object).exit_code, 0);
  }
  EXPECT_TRUE(columns("ss").starts_with(
      "NAME       TOTAL SIZE   CACHED SIZE   AVAIL SPACE   RUNTIME   PHASE   AGE"))
      << columns("ss");
  EXPECT_TRUE(columns("sj").starts_with("NAME           PHASE   TYPE   PROGRESS   DURATION   AGE"))
      << columns("sj");
}

TEST_F(ApiServer, ScalesTheWorkersAndReportsThem) {
  ASSERT_EQ(kubectl({"apply", "-f", "-"}, job("scaled")).exit_code, 0);
  const auto scaled = kubectl({"scale", "pdj", "scaled", "--replicas=3"});
  ASSERT_EQ(scaled.exit_code, 0) << scaled.err;
  EXPECT_EQ(kubectl({"get", "pdj", "scaled", "-o", "jsonpath={.spec.worker.replicas}"}).out, "3");

  kubectl({"patch", "pdj", "scaled", "--subresource=status", "--type=merge", "-p",
           R"({"status":{"replicas":2,"selector":"a=b"}})"});
  const auto reply = send("GET", url(Kind::kPaddleJob, "/scaled/scale"), {});
  const Json scale = Json::parse(reply.body, nullptr, false);
  EXPECT_EQ(scale["spec"]["replicas"], 3);
  EXPECT_EQ(scale["status"], (Json{{"replicas", 2}, {"selector", "a=b"}}));
}

TEST_F(ApiServer, KeepsStatusApartFromSpec) {
  Json object = job("apart");
  object["status"] = {{"phase", "Running"}};
  ASSERT_EQ(kubectl({"apply", "-f", "-"}, object).exit_code, 0);
  EXPECT_EQ(kubectl({"get", "pdj", "apart", "-o", "jsonpath={.status}"}).out, "");
}

TEST_F(ApiServer, ExplainsOurFields) {
  const auto explained = kubectl({"explain", "pdj.spec.cleanPodPolicy"});
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_NE(explained.out.find("Which finished jobs lose their pods"), std::string::npos);
  EXPECT_EQ(kubectl({"explain", "ss.spec.csi.juiceFSMountOptions"}).exit_code, 0);
  EXPECT_EQ(kubectl({"explain", "sj.spec.warmupOptions.strategyName"}).exit_code, 0);
}

// An object that is older than a rule on names can still be updated, finished and deleted.
TEST_F(ApiServer, DeletesObjectsWhoseNamesTheRulesWouldRefuse) {
  const std::string long_name = "a23456789-123456789-123456789-123456789-123456789-123456789a";
  const std::string crd = "paddlejobs." + std::string(api::kGroup);
  const auto without_rules = kubectl(
      {"patch", "crd", crd, "--type=json", "-p",
       R"([{"op":"remove","path":"/spec/versions/0/schema/openAPIV3Schema/x-kubernetes-validations"}])"});
  ASSERT_EQ(without_rules.exit_code, 0) << without_rules.err;
  Json object = job(long_name);
  object["metadata"]["finalizers"] = {"finalizers.paddlepaddle.org/x"};
  // A changed CRD takes a moment to reach the handlers.
  ASSERT_TRUE(eventually([&] { return kubectl({"create", "-f", "-"}, object).exit_code == 0; }));
  ASSERT_EQ(kubectl({"patch", "pdj", long_name, "--subresource=status", "--type=merge", "-p",
                     R"({"status":{"phase":"Running"}})"})
                .exit_code,
            0);
  ASSERT_EQ(kubectl({"apply", "-f", kCrdFile}).exit_code, 0);
  ControlPlane::Ran refused;
  ASSERT_TRUE(eventually([&] {
    refused = kubectl({"create", "--dry-run=server", "-f", "-"}, job(long_name + "x"));
    return refused.exit_code != 0;
  }));
  EXPECT_NE(refused.err.find("at most 58"), std::string::npos) << refused.err;

  const auto removed = kubectl({"delete", "pdj", long_name, "--wait=false"});
  EXPECT_EQ(removed.exit_code, 0) << removed.err;
  const auto freed = kubectl(
      {"patch", "pdj", long_name, "--type=merge", "-p", R"({"metadata":{"finalizers":null}})"});
  EXPECT_EQ(freed.exit_code, 0) << freed.err;
  EXPECT_NE(kubectl({"get", "pdj", long_name}).exit_code, 0);
}

}  // namespace
}  // namespace paddle::test
