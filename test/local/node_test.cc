// SPDX-License-Identifier: Apache-2.0
//
// Pods through the whole machine: from an object in the API server to processes and back.

#include <filesystem>

#include "test/local/machine_fixture.h"
#include "test/support/eventually.h"

namespace paddle::local {
namespace {

using test::eventually;
namespace kinds = kube::resources;
namespace fs = std::filesystem;
using Pointer = Json::json_pointer;

using NodeTest = MachineTest;

TEST_F(NodeTest, RegistersItselfAndKeepsForeignLabels) {
  const Json node = get(kinds::kNodes, "local");
  EXPECT_EQ(node.at(Pointer("/metadata/labels/kubernetes.io~1hostname")), "local");
  EXPECT_EQ(node.at(Pointer("/status/conditions/0/status")), "True");
  EXPECT_NE(node.at(Pointer("/status/capacity/cpu")), "0");
  ASSERT_TRUE(client().patch(kinds::kNodes, {"", "local"},
                             {.body = {{"metadata", {{"labels", {{"cached", "imagenet"}}}}}}}));
  end_node();
  start_node();
  EXPECT_EQ(get(kinds::kNodes, "local").at(Pointer("/metadata/labels/cached")), "imagenet");
}

TEST_F(NodeTest, RunsAPodFromItsObjectToItsLogs) {
  create(kinds::kConfigMaps, {{"apiVersion", "v1"},
                              {"kind", "ConfigMap"},
                              {"metadata", {{"name", "conf"}, {"namespace", "default"}}},
                              {"data", {{"A", "one"}}}});
  Json object = pod("p", "echo first; echo $A; exit 3");
  object["spec"]["containers"][0]["envFrom"] =
      Json::array({Json{{"configMapRef", {{"name", "conf"}}}}});
  create(kinds::kPods, object);
  expect_phase("p", "Failed");
  const Json status = get(kinds::kPods, "p").at("status");
  EXPECT_EQ(status.at(Pointer("/containerStatuses/0/state/terminated/exitCode")), 3);
  EXPECT_EQ(get(kinds::kPods, "p").at(Pointer("/spec/nodeName")), "local");
  EXPECT_EQ(logs("p"), "first\none\n");
  EXPECT_EQ(logs("p", "tailLines=1"), "one\n");
  EXPECT_EQ(logs("p", "container=main&limitBytes=3"), "fir");
  EXPECT_EQ(logs("p", "follow=true"), "first\none\n");
  EXPECT_NE(logs("p", "container=other").find("not valid"), std::string::npos);
  EXPECT_NE(logs("p", "previous=true").find("not found"), std::string::npos);

  const std::string uid = get(kinds::kPods, "p").at(Pointer("/metadata/uid"));
  ASSERT_TRUE(client().remove(kinds::kPods, {"default", "p"}));
  EXPECT_TRUE(eventually([&] { return !fs::exists(directory() + "/pods/" + uid); }));
  EXPECT_TRUE(gone(kinds::kPods, "p"));
}

TEST_F(NodeTest, FollowsALogUntilItsContainerEnds) {
  create(kinds::kPods, pod("p", "for i in 1 2 3; do echo $i; sleep 0.2; done"));
  ASSERT_TRUE(eventually([&] { return phase("p") == "Running"; }));
  EXPECT_EQ(logs("p", "follow=true"), "1\n2\n3\n");
}

TEST_F(NodeTest, GivesADeletedPodTimeToEnd) {
  create(kinds::kPods,
         pod("p",
             "trap 'echo bye; sleep 0.3; exit 0' TERM; echo up; while true; do sleep 0.05; done"));
  ASSERT_TRUE(eventually([&] { return logs("p") == "up\n"; }));
  ASSERT_TRUE(client().remove(kinds::kPods, {"default", "p"}));
  EXPECT_TRUE(eventually([&] { return logs("p").find("bye") != std::string::npos; }))
      << "it had no time";
  EXPECT_TRUE(eventually([&] { return gone(kinds::kPods, "p"); }));
}

TEST_F(NodeTest, APodThatCannotRunHereFailsWithAMessage) {
  Json object = pod("p", "true");
  mount(object, "/x", {{"csi", {{"driver", "ebs.csi.aws.com"}}}});
  create(kinds::kPods, object);
  expect_phase("p", "Failed");
  const Json status = get(kinds::kPods, "p").at("status");
  EXPECT_EQ(status.at("reason"), "CannotRunHere");
  EXPECT_NE(status.at("message").get<std::string>().find("ebs.csi.aws.com"), std::string::npos);
}

TEST_F(NodeTest, ReportsWhyAPodIsUnschedulableAndRunsItOnceANodeFits) {
  Json object = pod("p", "true");
  object["spec"]["nodeSelector"] = {{"cached", "imagenet"}};
  create(kinds::kPods, object);
  EXPECT_TRUE(eventually([&] {
    return get(kinds::kPods, "p").value(Pointer("/status/conditions/0/reason"), "") ==
           "Unschedulable";
  }));
  ASSERT_TRUE(client().patch(kinds::kNodes, {"", "local"},
                             {.body = {{"metadata", {{"labels", {{"cached", "imagenet"}}}}}}}));
  expect_phase("p", "Succeeded");
}

TEST_F(NodeTest, ContinuesAfterARestartOfTheNode) {
  create(kinds::kPods, pod("once", "echo up; sleep 1000"));
  create(kinds::kPods, pod("always", "echo up; sleep 1000", "Always"));
  create(kinds::kPods, pod("deleted", "sleep 1000"));
  create(kinds::kPods, pod("done", "echo result"));
  for (const char* name : {"once", "always", "deleted"}) expect_phase(name, "Running");
  expect_phase("done", "Succeeded");
  const std::string uid = get(kinds::kPods, "deleted").at(Pointer("/metadata/uid"));
  end_node();
  ASSERT_TRUE(client().remove(kinds::kPods, {"default", "deleted"}));
  ASSERT_FALSE(gone(kinds::kPods, "deleted"));
  fs::create_directories(directory() + "/pods/unknown/logs");
  start_node();

  expect_phase("once", "Failed");
  EXPECT_EQ(get(kinds::kPods, "once").at(Pointer("/status/reason")), "NodeRestarted");
  EXPECT_EQ(
      get(kinds::kPods, "once").at(Pointer("/status/containerStatuses/0/state/terminated/reason")),
      "ContainerStatusUnknown");
  EXPECT_TRUE(eventually([&] {
    const Json status = get(kinds::kPods, "always").value("status", Json::object());
    return status.value(Pointer("/containerStatuses/0/restartCount"), 0) == 1 &&
           status.contains(Pointer("/containerStatuses/0/state/running"));
  }));
  EXPECT_EQ(logs("always", "previous=true"), "up\n");
  EXPECT_TRUE(eventually([&] { return gone(kinds::kPods, "deleted"); }));
  EXPECT_EQ(phase("done"), "Succeeded");
  EXPECT_EQ(logs("done"), "result\n");
  EXPECT_FALSE(fs::exists(directory() + "/pods/unknown"));
  EXPECT_TRUE(eventually([&] { return !fs::exists(directory() + "/pods/" + uid); }));
}

// A running pod that prints the content of its volumes whenever it changes.
TEST_F(NodeTest, FilesOfConfigMapsAndSecretsFollowTheirObjects) {
  const auto object = [](const char* kind, const char* name, const Json& data) {
    return Json{{"apiVersion", "v1"},
                {"kind", kind},
                {"metadata", {{"name", name}, {"namespace", "default"}}},
                {std::string(kind) == "Secret" ? "stringData" : "data", data}};
  };
  create(kinds::kConfigMaps, object("ConfigMap", "conf", {{"a", "1"}, {"b", "1"}}));
  create(kinds::kSecrets, object("Secret", "keys", {{"key", "wrong"}}));
  Json printing = pod(
      "p",
      "while sleep 0.02; do now=$(cd -P /conf/..data && cat a b 2>/dev/null && cat /keys/key && "
      "ls /conf && cat /one) || continue; [ \"$now\" = \"$last\" ] || echo $now; last=$now; "
      "done");
  mount(printing, "/conf", {{"configMap", {{"name", "conf"}}}});
  mount(printing, "/keys", {{"secret", {{"secretName", "keys"}}}});
  mount(printing, "/one", {{"configMap", {{"name", "conf"}}}}, "a");
  create(kinds::kPods, printing);
  ASSERT_TRUE(eventually([&] { return logs("p") == "11wronga b 1\n"; })) << logs("p");

  ASSERT_TRUE(client().patch(kinds::kSecrets, {"default", "keys"},
                             {.body = {{"stringData", {{"key", "right"}}}}}));
  ASSERT_TRUE(eventually([&] { return logs("p").ends_with("\n11righta b 1\n"); })) << logs("p");

  ASSERT_TRUE(client().patch(kinds::kConfigMaps, {"default", "conf"},
                             {.body = {{"data", {{"a", "2"}, {"b", "2"}, {"c", "2"}}}}}));
  EXPECT_TRUE(eventually([&] { return logs("p").ends_with("\n22righta b c 1\n"); }))
      << "a subPath stays: " << logs("p");
  EXPECT_EQ(logs("p").find("12"), std::string::npos) << "half of a change was seen: " << logs("p");
  EXPECT_EQ(logs("p").find("21"), std::string::npos) << logs("p");

  ASSERT_TRUE(client().remove(kinds::kConfigMaps, {"default", "conf"}));
  create(kinds::kConfigMaps, object("ConfigMap", "conf", {{"a", "3"}, {"b", "3"}}));
  EXPECT_TRUE(eventually([&] { return logs("p").ends_with("\n33righta b 1\n"); })) << logs("p");
}

TEST_F(NodeTest, KeepsAStatefulSetAtItsSizeAndReplacesFailedPods) {
  const Json container = {{"name", "main"},
                          {"image", "none"},
                          {"command", Json::array({"/bin/sh", "-c", "hostname; sleep 1000"})}};
  create(
      kinds::kStatefulSets,
      {{"apiVersion", "apps/v1"},
       {"kind", "StatefulSet"},
       {"metadata", {{"name", "web"}, {"namespace", "default"}}},
       {"spec",
        {{"replicas", 2},
         {"selector", {{"matchLabels", {{"app", "web"}}}}},
         {"template",
          {{"metadata", {{"labels", {{"app", "web"}}}}},
           {"spec",
            {{"terminationGracePeriodSeconds", 0}, {"containers", Json::array({container})}}}}}}}});
  const auto ready = [&] {
    return get(kinds::kStatefulSets, "web").value(Pointer("/status/readyReplicas"), 0);
  };
  ASSERT_TRUE(eventually([&] { return ready() == 2; }));
  EXPECT_TRUE(eventually([&] { return logs("web-1") == "web-1\n"; })) << logs("web-1");
  const std::string uid = get(kinds::kPods, "web-0").at(Pointer("/metadata/uid"));
  ASSERT_TRUE(client().patch(kinds::kPods, {"default", "web-0"},
                             {.body = {{"status", {{"phase", "Failed"}}}}}, "status"));
  EXPECT_TRUE(eventually([&] {
    return get(kinds::kPods, "web-0").value(Pointer("/metadata/uid"), uid) != uid && ready() == 2;
  }));
  ASSERT_TRUE(client().patch(kinds::kStatefulSets, {"default", "web"},
                             {.body = {{"spec", {{"replicas", 1}}}}}));
  EXPECT_TRUE(eventually([&] { return gone(kinds::kPods, "web-1"); }));
  ASSERT_TRUE(client().remove(kinds::kStatefulSets, {"default", "web"}));
  EXPECT_TRUE(eventually([&] { return gone(kinds::kPods, "web-0"); }));
}

}  // namespace
}  // namespace paddle::local
