// SPDX-License-Identifier: Apache-2.0
// What deploy/v1/policies.yaml forbids, tried on a real API server. Each attempt has its control in
// the same test: before the policies are applied it succeeds, so that a refusal is no typing error.
// And what the operator, its driver and its users need goes on with the policies in force.

#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "test/integration/control_plane_fixture.h"
#include "test/support/eventually.h"

namespace paddle::test {
namespace {

using kube::Json;

const std::string kTop = PADDLE_SOURCE_DIR;
constexpr const char* kAccounts = "system:serviceaccount:paddle-system:";
constexpr const char* kTenant = "tenant";

// As `user`; nothing is stored, except by commands that have no dry run.
struct Attempt {
  std::string user{};
  std::vector<std::string> args{};
  std::string input{};
  std::string refused_by{};  // the policy
  bool dry = true;
  std::string node{};  // as the driver of this node, with the token of its pod there
};

// Objects of a SampleSet and of others, as they are before the attempts.
constexpr const char* kObjects = R"(
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: tenant}
rules:
- apiGroups: ["", apps, batch, networking.k8s.io, batch.paddlepaddle.org]
  resources: ["*"]
  verbs: ["*"]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: tenant, namespace: team}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: tenant}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: tenant}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: tenant, namespace: paddle-system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: tenant}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: tenant}]
---
# kubectl reads what it patches; the manager itself has no need to.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reads-nodes}
rules:
- {apiGroups: [""], resources: [nodes], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reads-nodes}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reads-nodes}
subjects: [{kind: ServiceAccount, name: paddle-sampleset-sa, namespace: paddle-system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: root}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: root}]
---
apiVersion: v1
kind: Secret
metadata:
  {name: set-runtime, namespace: team, annotations: {batch.paddlepaddle.org/sampleset-uid: u1}}
---
apiVersion: v1
kind: Secret
metadata: {name: own, namespace: team}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: labelled, namespace: team, labels: {batch.paddlepaddle.org/sampleset: set}}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  {name: set-runtime, namespace: team, annotations: {batch.paddlepaddle.org/sampleset-uid: u1}}
spec: {podSelector: {}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: deny-all, namespace: team}
spec: {podSelector: {}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: of-another}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteMany]
  hostPath: {path: /data}
---
apiVersion: v1
kind: Node
metadata: {name: node1}
---
apiVersion: v1
kind: Pod
metadata: {name: reader, namespace: team}
spec: {nodeName: node1, containers: [{name: main, image: a}]}
---
apiVersion: v1
kind: Node
metadata: {name: node2}
---
apiVersion: v1
kind: Pod
metadata: {name: driver-node1, namespace: juicefs-csi}
spec: {nodeName: node1, serviceAccountName: juicefs-csi-node, containers: [{name: a, image: a}]}
---
apiVersion: v1
kind: Pod
metadata: {name: driver-node2, namespace: juicefs-csi}
spec: {nodeName: node2, serviceAccountName: juicefs-csi-node, containers: [{name: a, image: a}]}
---
apiVersion: v1
kind: Pod
metadata: {name: paddle-sampleset-manager-5d9c-x, namespace: paddle-system}
spec:
  nodeName: node1
  serviceAccountName: paddle-sampleset-sa
  containers: [{name: manager, image: a}]
)";

constexpr const char* kManagerPod = "paddle-sampleset-manager-5d9c-x";

std::string pod(const std::string& ns, const std::string& account = "default") {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: " + ns +
         "}\nspec: {serviceAccountName: " + account + ", containers: [{name: main, image: a}]}\n";
}

std::string workload(const std::string& group, const std::string& kind) {
  const bool ends = kind == "Job" || kind == "CronJob";
  const std::string selector = kind == "ReplicationController" ? "{a: b}" : "{matchLabels: {a: b}}";
  const std::string spec = "{" + (ends ? "" : "selector: " + selector + ", ") +
                           "template: {metadata: {labels: {a: b}}, spec: {" +
                           (ends ? "restartPolicy: Never, " : "") +
                           "serviceAccountName: paddle-sampleset-sa, "
                           "containers: [{name: main, image: a}]}}" +
                           (kind == "StatefulSet" ? ", serviceName: w}" : "}");
  return "apiVersion: " + group + "\nkind: " + kind +
         "\nmetadata: {name: w, namespace: paddle-system}\nspec: " +
         (kind == "CronJob" ? "{schedule: '@daily', jobTemplate: {spec: " + spec + "}}" : spec) +
         "\n";
}

std::string with_debugger() {
  return Json{
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata", {{"name", kManagerPod}, {"namespace", "paddle-system"}}},
      {"spec",
       {{"containers", Json::array({Json{{"name", "manager"}, {"image", "a"}}})},
        {"ephemeralContainers", Json::array({Json{{"name", "debugger"},
                                                  {"image", "evil"},
                                                  {"imagePullPolicy", "Always"},
                                                  {"terminationMessagePolicy", "File"}}})}}}}
      .dump();
}

std::string volume(const std::string& source) {
  return "apiVersion: v1\nkind: PersistentVolume\nmetadata:\n  name: v\n"
         "  annotations: {batch.paddlepaddle.org/sampleset-uid: u1}\n"
         "spec:\n  capacity: {storage: 1Gi}\n  accessModes: [ReadWriteMany]\n  " +
         source + "\n";
}

std::string removal(const std::string& user) {
  return "apiVersion: batch.paddlepaddle.org/v1alpha1\nkind: SampleJob\nmetadata:\n"
         "  name: rm\n  namespace: team\n"
         "  annotations: {batch.paddlepaddle.org/requested-by: '" +
         user + "'}\nspec: {type: rmr, sampleSetRef: {name: set}, rmrOptions: {paths: [train]}}\n";
}

class PoliciesTest : public ControlPlaneTest {
 protected:
  std::string must(const std::vector<std::string>& args, const std::string& input = {}) {
    const auto done = plane->kubectl(args, input);
    EXPECT_EQ(done.exit_code, 0) << args[0] << ": " << done.err;
    return done.out;
  }
  void install() {
    must({"apply", "-f", kTop + "/deploy/v1/crd.yaml"});
    wait_for_crds();
    must({"apply", "-k", kTop + "/config/overlays/all-namespaces"});
    must({"apply", "-f", kTop + "/deploy/csi/juicefs.yaml"});
    must({"apply", "-f", "-"}, kObjects);
  }
  // The account of JuiceFS's driver, whichever namespace its manifest has.
  std::string driver() {
    const Json found = Json::parse(must({"get", "serviceaccounts", "-A", "-o", "json"}));
    for (const Json& each : found["items"]) {
      const std::string name = each["metadata"]["name"];
      const std::string ns = each["metadata"]["namespace"];
      if (name == "juicefs-csi-node") return "system:serviceaccount:" + ns + ":" + name;
    }
    ADD_FAILURE() << "deploy/csi/juicefs.yaml has no account juicefs-csi-node";
    return "";
  }
  Ran run(const Attempt& attempt) {
    std::vector<std::string> args = attempt.args;
    if (attempt.dry) args.emplace_back("--dry-run=server");
    // First: behind a -- it would be an argument of the command.
    args.insert(args.begin(), attempt.node.empty() ? "--as=" + attempt.user
                                                   : "--token=" + token_on(attempt.node));
    return plane->kubectl(args, attempt.input);
  }
  // As kubelet gives it to the driver's pod there.
  std::string token_on(const std::string& node) {
    std::string& token = tokens_[node];
    if (token.empty()) {
      token = must({"-n", "juicefs-csi", "create", "token", "juicefs-csi-node",
                    "--bound-object-kind=Pod", "--bound-object-name=driver-" + node});
      while (token.ends_with('\n')) token.pop_back();
    }
    return token;
  }
  std::vector<Attempt> forbidden() {
    const std::string sets = std::string(kAccounts) + "paddle-sampleset-sa";
    const std::string jobs = std::string(kAccounts) + "paddle-manager-sa";
    const std::vector<std::string> create{"create", "-f", "-"};
    const auto change = [](std::vector<std::string> where, const std::string& patch) {
      where.insert(where.begin(), "patch");
      where.insert(where.end(), {"--type=merge", "-p", patch});
      return where;
    };
    return {
        {kTenant, create, pod("paddle-system", "paddle-sampleset-sa"), "manager-accounts"},
        {kTenant, create, workload("apps/v1", "Deployment"), "manager-accounts"},
        {kTenant, create, workload("batch/v1", "Job"), "manager-accounts"},
        {kTenant, create, workload("batch/v1", "CronJob"), "manager-accounts"},
        {kTenant, create, workload("apps/v1", "DaemonSet"), "manager-accounts"},
        {kTenant, create, workload("apps/v1", "StatefulSet"), "manager-accounts"},
        {kTenant, create, workload("apps/v1", "ReplicaSet"), "manager-accounts"},
        {kTenant, create, workload("v1", "ReplicationController"), "manager-accounts"},
        {kTenant,
         change({"-n", "paddle-system", "deployment", "paddle-sampleset-manager"},
                R"({"spec":{"template":{"metadata":{"labels":{"a":"b"}}}}})"),
         "", "manager-accounts"},
        {kTenant,
         change({"-n", "paddle-system", "pod", kManagerPod},
                R"({"spec":{"containers":[{"name":"manager","image":"evil"}]}})"),
         "", "manager-accounts"},
        {kTenant,
         {"replace", "--raw",
          std::string("/api/v1/namespaces/paddle-system/pods/") + kManagerPod +
              "/ephemeralcontainers?dryRun=All",
          "-f", "-"},
         with_debugger(),
         "manager-accounts",
         false},
        {kTenant, create,
         "apiVersion: v1\nkind: Secret\ntype: kubernetes.io/service-account-token\n"
         "metadata:\n  name: t\n  namespace: paddle-system\n"
         "  annotations: {kubernetes.io/service-account.name: paddle-sampleset-sa}\n",
         "manager-accounts"},
        {kTenant,
         {"-n", "paddle-system", "create", "token", "paddle-sampleset-sa"},
         "",
         "manager-accounts",
         false},
        {kTenant,
         change({"-n", "team", "pvc", "labelled"},
                R"({"metadata":{"annotations":{"juicefs/mount-image":"evil"}}})"),
         "", "sampleset-claims"},
        {kTenant,
         change({"-n", "team", "secret", "set-runtime"}, R"({"stringData":{"envs":"a: b"}})"), "",
         "sampleset-objects"},
        {kTenant,
         change({"-n", "team", "networkpolicy", "set-runtime"}, R"({"spec":{"ingress":[{}]}})"), "",
         "sampleset-objects"},
        {sets, create, volume("hostPath: {path: /}"), "sampleset-volumes"},
        {sets, {"delete", "pv", "of-another"}, "", "sampleset-volumes"},
        {sets, {"-n", "team", "delete", "networkpolicy", "deny-all"}, "", "sampleset-deletions"},
        {sets, {"-n", "team", "delete", "secret", "own"}, "", "sampleset-deletions"},
        {kTenant, create, removal("administrator"), "samplejob-requesters"},
        {sets, change({"node", "node1"}, R"({"metadata":{"labels":{"role":"edge"}}})"), "",
         "node-labels"},
        {sets, change({"node", "node1"}, R"({"spec":{"unschedulable":true}})"), "", "node-labels"},
        {sets, change({"node", "node1"}, R"({"metadata":{"annotations":{"a":"b"}}})"), "",
         "node-labels"},
        {jobs, create, pod("kube-system"), "system-namespaces"},
        {driver(),
         change({"-n", "team", "pod", "reader"},
                R"({"spec":{"containers":[{"name":"main","image":"evil"}]}})"),
         "", "juicefs-driver"},
        {driver(),
         change({"-n", "team", "pod", "reader"}, R"({"metadata":{"labels":{"app":"victim"}}})"), "",
         "juicefs-driver"},
        {.args = change({"-n", "team", "pod", "reader"},
                        R"({"metadata":{"labels":{"juicefs-uniqueid":"v"}}})"),
         .refused_by = "juicefs-driver",
         .node = "node2"},
    };
  }
  std::vector<Attempt> allowed() {
    const std::string sets = std::string(kAccounts) + "paddle-sampleset-sa";
    const std::vector<std::string> create{"create", "-f", "-"};
    const auto change = [](std::vector<std::string> where, const std::string& patch) {
      where.insert(where.begin(), "patch");
      where.insert(where.end(), {"--type=merge", "-p", patch});
      return where;
    };
    return {
        {kTenant, create, pod("paddle-system"), ""},
        {kTenant, {"-n", "team", "delete", "secret", "set-runtime"}, "", ""},
        {kTenant,
         change({"-n", "team", "secret", "own"}, R"({"stringData":{"access-key":"mine"}})"), "",
         ""},
        {kTenant, create, removal(kTenant), ""},
        {sets, change({"-n", "team", "secret", "set-runtime"}, R"({"stringData":{"token":"new"}})"),
         "", ""},
        {sets, create, volume("csi: {driver: csi.juicefs.com, volumeHandle: v}"), ""},
        {sets, {"-n", "team", "delete", "networkpolicy", "set-runtime"}, "", ""},
        {sets,
         change({"node", "node1"}, R"({"metadata":{"labels":{"paddlepaddle.org/cache-1":"x"}}})"),
         "", ""},
        {std::string(kAccounts) + "paddle-manager-sa", create, pod("team"), ""},
        {driver(),
         change({"-n", "team", "pod", "reader"},
                R"({"metadata":{"labels":{"juicefs-uniqueid":"v"}}})"),
         "", ""},
        {.args = change({"-n", "team", "pod", "reader"},
                        R"({"metadata":{"labels":{"juicefs-uniqueid":"v"}}})"),
         .node = "node1"},
        // Administrators look into a manager that misbehaves.
        {"root",
         change({"-n", "paddle-system", "pod", kManagerPod},
                R"({"metadata":{"labels":{"a":"b"}}})"),
         "", ""},
    };
  }

 private:
  std::map<std::string, std::string> tokens_{};
};

std::string text_of(const Attempt& attempt) {
  const std::string user = attempt.node.empty() ? attempt.user : "the driver of " + attempt.node;
  std::string text = "as " + user + ":";
  for (const std::string& each : attempt.args) text += " " + each;
  return text + "\n" + attempt.input;
}

TEST_F(PoliciesTest, WhatTheyForbidSucceedsWithoutThemAndIsRefusedWithThem) {
  install();
  const auto attempts = forbidden();
  for (const Attempt& each : attempts) {
    const Ran done = run(each);
    EXPECT_EQ(done.exit_code, 0) << "the control: " << text_of(each) << done.err;
  }
  must({"apply", "-f", kTop + "/deploy/v1/policies.yaml"});
  for (const Attempt& each : attempts) {
    std::string err;
    EXPECT_TRUE(eventually([&] {  // the server loads a policy a moment after it is applied
      const Ran done = run(each);
      err = done.err;
      return done.exit_code != 0;
    })) << "not refused: "
        << text_of(each);
    EXPECT_NE(err.find("'" + each.refused_by + ".paddlepaddle.org'"), std::string::npos)
        << text_of(each) << err;
  }
  for (const Attempt& each : allowed()) {
    const Ran done = run(each);
    EXPECT_EQ(done.exit_code, 0) << text_of(each) << done.err;
  }
}

// Without a kubelet no command runs: the control is that the server would have passed it on.
TEST_F(PoliciesTest, NobodyButAdministratorsRunsAProgramInAManager) {
  install();
  const auto enter = [&](const std::string& user, const std::string& ns, const std::string& name) {
    return run({user, {"-n", ns, "exec", name, "--", "/manager", "--cache-roots=/"}, "", "", false})
        .err;
  };
  const std::string refusal = "'manager-accounts.paddlepaddle.org'";
  must({"create", "-f", "-"}, pod("paddle-system"));
  for (const char* each : {kManagerPod, "p"}) {
    EXPECT_EQ(enter(kTenant, "paddle-system", each).find("forbidden"), std::string::npos);
  }
  must({"apply", "-f", kTop + "/deploy/v1/policies.yaml"});
  std::string err;
  EXPECT_TRUE(eventually([&] {
    err = enter(kTenant, "paddle-system", kManagerPod);
    return err.find(refusal) != std::string::npos;
  })) << err;
  for (const auto& [user, name] : {std::pair{kTenant, "p"}, std::pair{"root", kManagerPod}}) {
    err = enter(user, "paddle-system", name);
    EXPECT_EQ(err.find(refusal), std::string::npos) << err;
    EXPECT_EQ(err.find("forbidden"), std::string::npos) << err;
  }
}

TEST_F(PoliciesTest, ANameStaysWithItsUserUntilAnotherChangesTheJob) {
  install();
  must({"apply", "-f", kTop + "/deploy/v1/policies.yaml"});
  const Attempt wrong{kTenant, {"create", "-f", "-"}, removal("administrator"), ""};
  ASSERT_TRUE(eventually([&] { return run(wrong).exit_code != 0; }));
  must({"create", "-f", "-", "--as=tenant"}, removal(kTenant));
  const auto patch = [&](const std::string& body) {
    return plane->kubectl({"-n", "team", "patch", "samplejob", "rm", "--type=merge", "-p", body});
  };
  EXPECT_EQ(patch(R"({"metadata":{"labels":{"a":"b"}}})").exit_code, 0) << "by an administrator";
  const Ran taken = patch(R"({"spec":{"rmrOptions":{"paths":["everything"]}}})");
  EXPECT_NE(taken.exit_code, 0) << "it would be the tenant's doing";
  EXPECT_NE(taken.err.find("names the user who creates or changes the job"), std::string::npos)
      << taken.err;
}

TEST_F(PoliciesTest, KubectlWarnsOfARemovalThatNamesNobody) {
  install();
  must({"apply", "-f", kTop + "/deploy/v1/warnings.yaml"});
  const std::string annotated = removal(kTenant);
  std::string without = annotated;
  const auto at = without.find("  annotations");
  without.erase(at, without.find('\n', at) + 1 - at);
  const Attempt removes{kTenant, {"create", "-f", "-"}, without, ""};
  EXPECT_TRUE(eventually([&] {
    return run(removes).err.find("requested-by: tenant") != std::string::npos;
  })) << run(removes).err;
  const Ran named = run({kTenant, {"create", "-f", "-"}, annotated, ""});
  EXPECT_EQ(named.exit_code, 0);
  EXPECT_EQ(named.err, "");
  const Ran harmless = run({kTenant,
                            {"create", "-f", "-"},
                            "apiVersion: batch.paddlepaddle.org/v1alpha1\nkind: SampleJob\n"
                            "metadata: {name: w, namespace: team}\n"
                            "spec: {type: warmup, sampleSetRef: {name: set}}\n",
                            ""});
  EXPECT_EQ(harmless.err, "");
  Attempt source = removes;
  source.input =
      "apiVersion: batch.paddlepaddle.org/v1alpha1\nkind: SampleJob\n"
      "metadata: {name: s, namespace: team}\n"
      "spec: {type: sync, sampleSetRef: {name: set}, syncOptions: {delete-src: true}}\n";
  EXPECT_NE(run(source).err.find("requested-by: tenant"), std::string::npos) << run(source).err;
}

}  // namespace
}  // namespace paddle::test
