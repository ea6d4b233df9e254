// SPDX-License-Identifier: Apache-2.0
//
// A session of stock kubectl with the embedded API server.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "local/api_server/server.h"
#include "test/support/components.h"
#include "test/support/eventually.h"
#include "test/support/process.h"
#include "test/support/scratch_dir.h"

namespace paddle::local {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kJob = R"(
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: train, labels: {team: vision}}
spec:
  worker:
    replicas: 2
    template:
      spec:
        containers: [{name: main, image: "example.org/paddle:1"}]
)";

constexpr const char* kPod = R"(
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - {name: main, image: "example.org/a:1", env: [{name: A, value: "1"}, {name: B, value: "2"}]}
  - {name: side, image: "example.org/b:1"}
)";

class LocalKubectlTest : public testing::Test {
 protected:
  void SetUp() override {
    auto kubectl = test::component("kubectl");
    ASSERT_TRUE(kubectl) << kubectl.error().message;
    kubectl_ = *kubectl;
    auto server = ApiServer::start({.directory = scratch_.path() + "/data"});
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
    config_ = scratch_.path() + "/kubeconfig";
    ASSERT_TRUE(test::write_file(config_, kubeconfig_of(server_->client_config())));
  }

  test::Ran run(std::vector<std::string> args, const std::string& input = {}) const {
    args.insert(args.begin(), {kubectl_, "--kubeconfig", config_});
    return test::run({.argv = std::move(args), .env = test::clean_environment(scratch_.path())},
                     input);
  }
  // Its output, after it has ended well.
  std::string must(const std::vector<std::string>& args, const std::string& input = {}) const {
    const auto ran = run(args, input);
    EXPECT_EQ(ran.exit_code, 0) << testing::PrintToString(args) << "\n" << ran.out << ran.err;
    return ran.out;
  }

  test::ScratchDir scratch_;
  std::string kubectl_;
  std::string config_;
  std::unique_ptr<ApiServer> server_;
};

TEST_F(LocalKubectlTest, AppliesShowsChangesAndDeletesOurKinds) {
  EXPECT_THAT(must({"apply", "-f", "-"}, kJob),
              HasSubstr("paddlejob.batch.paddlepaddle.org/train created"));
  EXPECT_THAT(must({"apply", "-f", "-"}, kJob), HasSubstr("unchanged"));
  const std::string table = must({"get", "pdj"});
  EXPECT_THAT(table, HasSubstr("NAME")) << table;
  EXPECT_THAT(table, HasSubstr("STATUS")) << table;
  EXPECT_THAT(table, HasSubstr("MODE")) << table;
  EXPECT_THAT(table, HasSubstr("AGE")) << table;
  EXPECT_THAT(must({"get", "pdj", "-l", "team=vision", "-o", "name"}), HasSubstr("/train"));
  EXPECT_EQ(must({"get", "pdj", "-l", "team=other", "-o", "name"}), "");

  must({"patch", "pdj", "train", "--subresource=status", "--type=merge", "-p",
        R"({"status":{"phase":"Running"}})"});
  EXPECT_THAT(must({"get", "pdj", "train"}), HasSubstr("Running"));
  must({"wait", "pdj/train", "--for=jsonpath={.status.phase}=Running", "--timeout=30s"});
  must({"scale", "pdj", "train", "--replicas=3"});
  EXPECT_EQ(must({"get", "pdj", "train", "-o", "jsonpath={.spec.worker.replicas}"}), "3");
  EXPECT_THAT(must({"describe", "pdj", "train"}), HasSubstr("team=vision"));
  must({"label", "pdj", "train", "x=y"});
  must({"delete", "pdj", "train"});
  EXPECT_THAT(run({"get", "pdj", "train"}).err, HasSubstr("not found"));
}

TEST_F(LocalKubectlTest, ARefusedObjectIsExplained) {
  std::string bad = kJob;
  bad.replace(bad.find("replicas: 2"), 11, "replicas: -2");
  const auto refused = run({"apply", "-f", "-"}, bad);
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, HasSubstr("spec.worker.replicas"));

  std::string typo = kJob;
  typo.replace(typo.find("replicas"), 8, "replicsa");
  const auto strict = run({"apply", "-f", "-"}, typo);
  EXPECT_NE(strict.exit_code, 0);
  EXPECT_THAT(strict.err, HasSubstr("unknown field \"spec.worker.replicsa\""));
}

TEST_F(LocalKubectlTest, AppliesAChangedPodByStrategicMerge) {
  must({"apply", "-f", "-"}, kPod);
  std::string changed = kPod;
  changed.replace(changed.find("example.org/b:1"), 15, "example.org/b:2");
  EXPECT_THAT(must({"apply", "-f", "-"}, changed), HasSubstr("configured"));
  EXPECT_EQ(must({"get", "pod", "web", "-o", "jsonpath={.spec.containers[*].image}"}),
            "example.org/a:1 example.org/b:2");
  std::string restarted = changed;
  restarted.replace(restarted.find("{name: A, value: \"1\"}, "), 23, "");
  const auto refused = run({"apply", "-f", "-"}, restarted);
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, HasSubstr("pod updates may not change fields other than"));
  EXPECT_EQ(must({"get", "pod", "web", "-o", "jsonpath={.spec.containers[0].env[*].name}"}), "A B");
  EXPECT_THAT(must({"get", "pods"}), HasSubstr("0/2"));
  EXPECT_THAT(must({"get", "pods", "-o", "wide"}), HasSubstr("NODE"));
  EXPECT_THAT(must({"describe", "pod", "web"}), HasSubstr("example.org/b:2"));
  must({"delete", "pod", "web", "--wait=true", "--timeout=30s"});
}

TEST_F(LocalKubectlTest, MakesAndReadsCoreObjects) {
  must({"apply", "-f", "-"}, R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: "1", b: "2"}
---
apiVersion: v1
kind: Secret
metadata: {name: keys}
stringData: {k: v}
---
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: inside, namespace: team}
)");
  EXPECT_THAT(must({"get", "configmap,secret"}), HasSubstr("configmap/settings"));
  EXPECT_THAT(must({"get", "ns"}), HasSubstr("Active"));
  EXPECT_EQ(must({"get", "secret", "keys", "-o", "jsonpath={.data.k}"}), "dg==");
  must({"delete", "namespace", "team", "--timeout=30s"});
  EXPECT_THAT(run({"-n", "team", "get", "configmap", "inside"}).err, HasSubstr("not found"));
  EXPECT_THAT(must({"api-resources"}), HasSubstr("samplesets"));
  EXPECT_THAT(must({"version"}), HasSubstr("v1.34"));
  EXPECT_THAT(must({"explain", "pdj.spec.worker"}), HasSubstr("replicas"));
  // What docs/en/local.md says is not there.
  EXPECT_THAT(run({"get", "crd"}).err, HasSubstr("doesn't have a resource type \"crd\""));
  EXPECT_THAT(run({"top", "pods"}).err, HasSubstr("Metrics API not available"));
  EXPECT_THAT(run({"auth", "can-i", "get", "pods"}).err,
              HasSubstr("could not find the requested resource"));
  // Its generators speak protobuf, which we do not: the refusal names the way out.
  EXPECT_THAT(run({"create", "configmap", "x"}).err, HasSubstr("kubectl apply -f"));
}

TEST_F(LocalKubectlTest, AppliesOnTheServerSide) {
  must({"apply", "--server-side", "-f", "-"}, kJob);
  EXPECT_THAT(must({"apply", "--server-side", "-f", "-"}, kJob), HasSubstr("serverside-applied"));
  const auto other =
      run({"apply", "--server-side", "--field-manager=other", "-f", "-"},
          std::string(kJob).replace(std::string(kJob).find("replicas: 2"), 11, "replicas: 4"));
  EXPECT_NE(other.exit_code, 0);
  EXPECT_THAT(other.err, HasSubstr("conflict"));
}

TEST_F(LocalKubectlTest, DrainsTheNode) {
  must({"apply", "-f", "-"}, R"(
apiVersion: v1
kind: Node
metadata: {name: n1}
---
apiVersion: v1
kind: Pod
metadata: {name: worker}
spec:
  nodeName: n1
  containers: [{name: main, image: "example.org/a:1"}]
)");
  const std::string dry = must({"drain", "n1", "--force", "--dry-run=server"});
  EXPECT_THAT(must({"get", "pods", "-o", "name"}), HasSubstr("pod/worker")) << dry;
  const auto ran = run({"drain", "n1", "--force", "--grace-period=0", "--timeout=30s"});
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out + ran.err, HasSubstr("evict"));
  EXPECT_THAT(ran.out, HasSubstr("node/n1 drained"));
  EXPECT_THAT(must({"get", "pods", "-o", "name"}), Not(HasSubstr("worker")));
  EXPECT_EQ(must({"get", "node", "n1", "-o", "jsonpath={.spec.unschedulable}"}), "true");
}

TEST_F(LocalKubectlTest, WatchesAsThingsChange) {
  must({"apply", "-f", "-"}, "{apiVersion: v1, kind: ConfigMap, metadata: {name: seen}}");
  const std::string log = scratch_.path() + "/watch.log";
  const auto child = scratch_.keeper().spawn({.argv = {kubectl_, "--kubeconfig", config_, "get",
                                                       "configmaps", "-w", "--output-watch-events"},
                                              .env = test::clean_environment(scratch_.path()),
                                              .log = log});
  ASSERT_TRUE(child) << child.error().message;
  const auto shows = [&](const std::string& word) {
    return test::eventually([&] { return test::read_file(log).find(word) != std::string::npos; });
  };
  EXPECT_TRUE(shows("ADDED")) << test::read_file(log);
  must({"annotate", "configmap", "seen", "n=1"});
  EXPECT_TRUE(shows("MODIFIED")) << test::read_file(log);
  must({"delete", "configmap", "seen"});
  EXPECT_TRUE(shows("DELETED")) << test::read_file(log);
  EXPECT_TRUE(scratch_.keeper().kill(*child));
}

TEST_F(LocalKubectlTest, AWrongTokenIsRefused) {
  ClientConfig config = server_->client_config();
  config.token = "not-the-token";
  ASSERT_TRUE(test::write_file(config_, kubeconfig_of(config)));
  const auto ran = run({"get", "pods"});
  EXPECT_NE(ran.exit_code, 0);
  EXPECT_THAT(ran.err, Not(HasSubstr(server_->token())));
}

}  // namespace
}  // namespace paddle::local
