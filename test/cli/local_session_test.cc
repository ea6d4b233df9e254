// SPDX-License-Identifier: Apache-2.0
//
// A new user's session with `paddlectl local`: from nothing to a finished job and back.

#include <filesystem>

#include <gmock/gmock.h>

#include "test/cli/cli_fixture.h"
#include "test/support/components.h"
#include "test/support/eventually.h"

namespace paddle::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kObjects = R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {greeting: hello}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: train}
spec:
  cleanPodPolicy: Never
  worker:
    replicas: 2
    template:
      spec:
        containers:
        - name: main
          image: example.org/paddle:1
          command: [sh, -c, 'echo "$GREETING from $PADDLE_TRAINER_ID"; env; command -v paddlectl']
          env:
          - {name: GREETING, valueFrom: {configMapKeyRef: {name: settings, key: greeting}}}
)";

std::string job(const std::string& name, const std::string& script) {
  return "{apiVersion: batch.paddlepaddle.org/v1, kind: PaddleJob, metadata: {name: " + name +
         "}, spec: {cleanPodPolicy: Never, worker: {replicas: 1, template: {spec: {containers: "
         "[{name: main, image: x, command: [sh, -c, '" +
         script + "']}]}}}}}";
}

class LocalSession : public CliTest {
 protected:
  void SetUp() override {
    const Ran ran = up(directory_);
    ASSERT_EQ(ran.exit_code, 0) << ran.out;
    EXPECT_THAT(ran.out, HasSubstr("export KUBECONFIG=" + directory_ + "/kubeconfig"));
  }
};

TEST_F(LocalSession, RunsAJobFromItsFileToItsEnd) {
  EXPECT_EQ(must({"apply", "-f", "-"}, kObjects),
            "configmap/settings created\npaddlejob.batch.paddlepaddle.org/train created\n");
  must({"wait", "paddlejob/train", "--for=phase=Completed", "--timeout", "60s"});
  EXPECT_EQ(must({"apply", "-f", "-"}, kObjects),
            "configmap/settings unchanged\npaddlejob.batch.paddlepaddle.org/train unchanged\n");
  EXPECT_THAT(must({"get", "pdj"}), HasSubstr("Completed"));
  EXPECT_THAT(must({"get", "pods", "-o", "wide"}), HasSubstr("local"));
  EXPECT_EQ(must({"get", "pods", "-o", "name"}), "pod/train-worker-0\npod/train-worker-1\n");
  EXPECT_THAT(must({"get", "pod/train-worker-0", "-o", "yaml"}), HasSubstr("phase: Succeeded\n"));
  const std::string said = must({"logs", "paddlejob/train"});
  EXPECT_THAT(said, HasSubstr("[train-worker-0] hello from 0\n"));
  EXPECT_THAT(said, HasSubstr("[train-worker-1] hello from 1\n"));
  EXPECT_THAT(said, HasSubstr("/paddlectl")) << "our programs are in the PATH of pods";
  EXPECT_THAT(said, Not(HasSubstr("TMPDIR="))) << "of our environment only four names get there";
  EXPECT_EQ(must({"logs", "train-worker-0", "--tail", "0"}), "");

  const auto now = status(directory_);
  EXPECT_EQ(now["pods"]["succeeded"], 2);
  EXPECT_EQ(now["paddleJobs"][0]["phase"], "Completed");
  EXPECT_EQ(now["nodes"][0]["ready"], true);
  must({"delete", "-f", "-"}, kObjects);
  EXPECT_TRUE(eventually([&] { return must({"get", "pods", "-o", "name"}).empty(); }));
  EXPECT_EQ(ctl({"get", "configmap", "settings"}).exit_code, 1);
}

TEST_F(LocalSession, WorkersOfAServiceJobFindEachOtherByTheirNames) {
  // No worker ends before the other has looked: the name of a pod that has ended leads nowhere.
  // ahostsv4 asks no DNS server of the machine for an IPv6 address.
  std::string peers =
      job("svc",
          "for i in 0 1; do getent ahostsv4 svc-worker-$i || exit 1; "
          "getent ahostsv4 svc-worker-$i.default.svc.cluster.local || exit 1; done; "
          "echo found both; exec sleep 600");
  peers.replace(peers.find("replicas: 1"), 11, "replicas: 2");
  peers.replace(peers.find("cleanPodPolicy"), 0, "intranet: Service, backoffLimit: 0, ");
  must({"apply", "-f", "-"}, peers);
  for (const char* worker : {"svc-worker-0", "svc-worker-1"}) {
    EXPECT_TRUE(eventually([&] {
      return ctl({"logs", worker}).out.ends_with("found both\n");
    })) << must({"describe", "pod", worker});
    EXPECT_THAT(must({"logs", worker}), HasSubstr("svc-worker-1"));
  }
}

TEST_F(LocalSession, SeveralObjectsArePrintedAsOneDocumentAndOneTable) {
  must({"apply", "-f", "-"},
       "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n"
       "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n");
  const auto list = nlohmann::json::parse(must({"get", "cm", "a", "b", "-o", "json"}));
  EXPECT_EQ(list["kind"], "List");
  EXPECT_EQ(list["items"][1]["metadata"]["name"], "b");
  EXPECT_EQ(list["items"][1]["kind"], "ConfigMap");
  const auto kinds = nlohmann::json::parse(must({"get", "cm,nodes", "-o", "json"}));
  EXPECT_EQ(kinds["items"].back()["kind"], "Node");
  const std::string yaml = must({"get", "cm/a", "node/local", "-o", "yaml"});
  EXPECT_THAT(yaml, HasSubstr("kind: List\n"));
  const std::string table = must({"get", "cm", "a", "b"});
  EXPECT_EQ(table.find("NAME"), table.rfind("NAME")) << table;
  const Ran partly = ctl({"get", "cm", "a", "none", "b", "-o", "name"});
  EXPECT_EQ(partly.exit_code, 1);
  EXPECT_EQ(partly.out, "configmap/a\nconfigmap/b\n");
  EXPECT_THAT(partly.err, HasSubstr("\"none\" not found"));
}

TEST_F(LocalSession, WaitReportsWhyAJobCannotComplete) {
  must({"apply", "-f", "-"}, job("bad", "echo oops; exit 3"));
  const Ran waited = ctl({"wait", "pdj/bad", "--for=phase=Completed", "--timeout", "60s"});
  EXPECT_EQ(waited.exit_code, 1);
  EXPECT_THAT(waited.err, HasSubstr("exit code 3"));
  EXPECT_EQ(must({"logs", "bad-worker-0"}), "oops\n");
}

TEST_F(LocalSession, FollowsLogsFromBeforeThePodsExistToTheirEnd) {
  must({"apply", "-f", "-"}, job("talks", "for i in 1 2 3; do echo $i; sleep 0.2; done"));
  EXPECT_EQ(must({"logs", "-f", "pdj/talks"}),
            "[talks-worker-0] 1\n[talks-worker-0] 2\n[talks-worker-0] 3\n");
}

TEST_F(LocalSession, ARejectedObjectIsNamedAndTheOthersAreApplied) {
  std::string objects = kObjects;
  objects.replace(objects.find("replicas"), 8, "replicsa");
  objects += "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: later}}\n";
  const Ran ran = ctl({"apply", "-f", "-"}, objects);
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("standard input, document 2"));
  EXPECT_THAT(ran.err, HasSubstr("unknown field \"spec.worker.replicsa\""));
  EXPECT_THAT(ran.out, HasSubstr("configmap/later created"));
}

TEST_F(LocalSession, WatchesAndWaitsForDeletion) {
  must({"apply", "-f", "-"}, "{apiVersion: v1, kind: ConfigMap, metadata: {name: seen}}");
  const std::string log = scratch_.path() + "/watch";
  const auto child = scratch_.keeper().spawn(
      {.argv = {PADDLE_CTL, "local", "get", "cm", "-w", "--directory", directory_},
       .env = clean_environment(scratch_.path()),
       .log = log});
  ASSERT_TRUE(child);
  const auto shows = [&](const std::string& word) {
    return eventually([&] { return read_file(log).find(word) != std::string::npos; });
  };
  EXPECT_TRUE(shows("seen"));
  must({"apply", "-f", "-"}, "{apiVersion: v1, kind: ConfigMap, metadata: {name: new}}");
  EXPECT_TRUE(shows("new"));
  EXPECT_TRUE(scratch_.keeper().signal(*child, SIGINT));
  EXPECT_TRUE(eventually([&] {
    const auto ended = scratch_.keeper().status(*child);
    return ended && *ended && (*ended)->code == 0;
  }));
  must({"delete", "cm", "new"});
  EXPECT_THAT(must({"wait", "cm/new", "--for=delete"}), HasSubstr("configmap/new deleted"));
  EXPECT_EQ(ctl({"wait", "cm/seen", "--for=delete", "--timeout=1s"}).exit_code, 1);
}

TEST_F(LocalSession, CachesSamplesAndReportsWhereBytesCameFrom) {
  // What pods read through a sealed view is counted by no process of ours.
  must({"down"});
  const Ran again = up_once(directory_, {"--no-sealed-views"});
  ASSERT_EQ(again.exit_code, 0) << again.out;
  const std::string samples = scratch_.path() + "/samples";
  std::filesystem::create_directories(samples + "/a");
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(write_file(samples + "/a/" + std::to_string(i), std::string(50'000, 'x')));
  }
  must({"apply", "-f", "-"},
       "{apiVersion: batch.paddlepaddle.org/v1alpha1, kind: SampleSet, "
       "metadata: {name: images}, spec: {partitions: 1, source: {uri: "
       "\"file://" +
           samples + "\"}, csi: {driver: samplefs}}}");
  must({"wait", "sampleset/images", "--for=phase=Ready", "--timeout=60s"});
  must({"wait", "sampleset/images", "--for=cached", "--timeout=60s"});
  EXPECT_THAT(must({"get", "samplesets"}), HasSubstr("Ready"));

  std::string reader = job("reads", "cat /mnt/images/a/* | wc -c");
  reader.replace(reader.find("cleanPodPolicy"), 0,
                 "sampleSetRef: {name: images, mountPath: /mnt/images}, ");
  must({"apply", "-f", "-"}, reader);
  must({"wait", "pdj/reads", "--for=phase=Completed", "--timeout=60s"});
  EXPECT_EQ(must({"logs", "reads-worker-0"}), "1000000\n");

  const auto set = status(directory_)["sampleSets"][0];
  EXPECT_EQ(set["totalBytes"], 1'000'000) << set;
  EXPECT_EQ(set["cachedBytes"], 1'000'000) << set;
  EXPECT_EQ(set["reads"]["downloaded"], 1'000'000) << set;
  EXPECT_EQ(set["reads"]["fromSource"], 0) << set;
  EXPECT_EQ(set["reads"]["fromCache"].get<int>() + set["reads"]["fromMemory"].get<int>(), 1'000'000)
      << set;
  must({"delete", "pdj", "reads"});
  must({"delete", "sampleset", "images", "--timeout=60s"});
  EXPECT_TRUE(eventually([&] { return must({"get", "pv", "-o", "name"}).empty(); }));
}

TEST_F(LocalSession, ASetWaitsForItsDirectoryAndRefusesThoseOfTheSystem) {
  const auto set = [](const std::string& name, const std::string& path) {
    return "{apiVersion: batch.paddlepaddle.org/v1alpha1, kind: SampleSet, metadata: {name: " +
           name + "}, spec: {partitions: 1, source: {uri: \"file://" + path +
           "\"}, csi: {driver: samplefs}}}\n";
  };
  const auto ready = [&](const std::string& name) {
    const auto now = nlohmann::json::parse(must({"get", "sampleset", name, "-o", "json"}));
    const auto status = now.value("status", nlohmann::json::object());  // none at first
    for (const auto& condition : status.value("conditions", nlohmann::json::array())) {
      if (condition["type"] == "Ready") return condition;
    }
    return nlohmann::json::object();
  };
  const std::string later = scratch_.path() + "/later";
  must({"apply", "-f", "-"}, set("system", "/etc") + "---\n" + set("later", later));
  EXPECT_TRUE(eventually([&] { return ready("system").value("reason", "") == "SpecRefused"; }))
      << ready("system");
  EXPECT_THAT(ready("system").value("message", ""),
              HasSubstr("'/etc' is a directory of the system"));
  EXPECT_TRUE(eventually([&] {
    return ready("later").value("message", "").find("is not on this machine") != std::string::npos;
  })) << ready("later");
  std::filesystem::create_directories(later);
  ASSERT_TRUE(write_file(later + "/a", "x"));
  must({"wait", "sampleset/later", "--for=phase=Ready", "--timeout=60s"});
  must({"delete", "samplesets", "--all", "--timeout=60s"});
}

TEST_F(LocalSession, DescribeShowsAnObjectWithItsEvents) {
  must({"apply", "-f", "-"}, job("seen", "true"));
  must({"wait", "pdj/seen", "--for=phase=Completed", "--timeout=60s"});
  const std::string text = must({"describe", "pod", "seen-worker-0"});
  EXPECT_THAT(text, HasSubstr("phase: Succeeded"));
  EXPECT_TRUE(eventually([&] {
    return must({"describe", "pod/seen-worker-0"}).find("the node runs the pod") !=
           std::string::npos;
  })) << text;
}

TEST_F(LocalSession, StockKubectlWorksToo) {
  const auto kubectl = component("kubectl");
  ASSERT_TRUE(kubectl) << kubectl.error().message;
  const std::string config = must({"kubeconfig", "--path"});
  const auto k = [&](std::vector<std::string> args, const std::string& input = {}) {
    args.insert(args.begin(), {*kubectl, "--kubeconfig", config.substr(0, config.find('\n'))});
    const Ran ran = run({.argv = args, .env = clean_environment(scratch_.path())}, input);
    EXPECT_EQ(ran.exit_code, 0) << testing::PrintToString(args) << ran.out << ran.err;
    return ran.out;
  };
  EXPECT_THAT(k({"apply", "-f", "-"}, kObjects), HasSubstr("train created"));
  k({"wait", "pdj/train", "--for=jsonpath={.status.phase}=Completed", "--timeout=60s"});
  EXPECT_THAT(k({"get", "pdj"}), HasSubstr("STATUS"));
  EXPECT_THAT(k({"get", "nodes"}), HasSubstr("Ready"));
  EXPECT_THAT(k({"describe", "pod", "train-worker-0"}), HasSubstr(" local/"));
  EXPECT_THAT(k({"logs", "train-worker-1"}), HasSubstr("hello from 1"));
  k({"delete", "pdj", "train", "--timeout=60s"});
}

}  // namespace
}  // namespace paddle::test
