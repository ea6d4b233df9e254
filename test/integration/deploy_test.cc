// SPDX-License-Identifier: Apache-2.0
// The files of deploy/ on a real API server: it accepts them strictly, the managers have the rights
// that they need and fit the restricted profile, they wait for their definitions, and the
// documented uninstallation ends and leaves nothing, with or without an operator.

#include <csignal>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/base64.h"
#include "net/server/http_server.h"
#include "test/integration/control_plane_fixture.h"
#include "test/support/components.h"
#include "test/support/eventually.h"
#include "test/support/http.h"
#include "test/support/keeper.h"
#include "test/support/ports.h"

namespace paddle::test {
namespace {

using kube::Json;
using kube::ObjectKey;
using namespace std::chrono_literals;
namespace kinds = kube::resources;

constexpr const char* kSystem = "paddle-system";
const std::string kTop = PADDLE_SOURCE_DIR;

constexpr const char* kWork = R"(
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: plain, namespace: paddle-system}
spec:
  worker:
    replicas: 2
    template: {spec: {containers: [{name: main, image: paddle:3}]}}
---
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: samplefs.csi.paddlepaddle.org}
spec: {attachRequired: false, volumeLifecycleModes: [Persistent, Ephemeral]}
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: imagenet, namespace: paddle-system}
spec:
  partitions: 1
  source: {uri: s3://bucket/images}
---
apiVersion: batch.paddlepaddle.org/v1
kind: PaddleJob
metadata: {name: reader, namespace: paddle-system}
spec:
  sampleSetRef: {name: imagenet, mountPath: /data}
  worker:
    replicas: 1
    template: {spec: {containers: [{name: main, image: paddle:3}]}}
)";

class DeployTest : public ControlPlaneTest {
 protected:
  DeployTest() : ControlPlaneTest({.audit = true}) {}

  std::string must(const std::vector<std::string>& args, const std::string& input = {}) {
    const auto done = plane->kubectl(args, input);
    EXPECT_EQ(done.exit_code, 0) << args[0] << ": " << done.err;
    return done.out;
  }
  void install() {
    for (const char* file : {"/deploy/v1/crd.yaml", "/deploy/v1/operator.yaml",
                             "/deploy/extensions/controllers.yaml"}) {
      must({"apply", "-f", kTop + file});
    }
    wait_for_crds();
  }
  // Empty when it is not there.
  Json get(const kube::Resource& resource, const std::string& name) {
    const auto found = client->get(resource, {resource.namespaced ? kSystem : "", name});
    return found ? *found : Json::object();
  }
  bool there(const kube::Resource& resource, const std::string& name) {
    return !get(resource, name).empty();
  }
  size_t owners(const kube::Resource& resource, const std::string& name) {
    return get(resource, name).value("/metadata/ownerReferences"_json_pointer, Json()).size();
  }

  // As a Deployment runs it. Needs no rights when `user` is admin.
  pid_t run_manager(const std::string& controllers, const std::string& user,
                    const std::string& health = "0") {
    std::string config = read_file(plane->kubeconfig());
    const std::string token = plane->token();
    config.replace(config.find(token), token.size(), plane->token_of(user));
    const std::string path = plane->directory() + "/kubeconfig-" + user;
    EXPECT_TRUE(write_file(path, config));
    const auto pid = plane->keeper().spawn(
        {.argv = {PADDLE_OPERATOR, "--leader-elect", "--namespace=paddle-system",
                  "--kubeconfig=" + path, "--metrics-bind-address=0",
                  "--health-probe-bind-address=" + health},
         .env = {"HOME=/nonexistent", "PADDLE_CONTROLLERS=" + controllers},
         .log = plane->directory() + "/" + controllers + ".log"});
    EXPECT_TRUE(pid) << pid.error().message;
    return pid ? *pid : 0;
  }
};

TEST_F(DeployTest, TheServerAcceptsEveryFileStrictly) {
  install();  // so that the namespace exists, and the definitions of what is in it
  const std::vector<std::string> dry{"apply", "--dry-run=server", "--validate=strict"};
  for (const char* file :
       {"-f/deploy/v1/crd.yaml", "-f/deploy/v1/operator.yaml", "-f/deploy/v1/warnings.yaml",
        "-f/deploy/v1/policies.yaml", "-f/deploy/v1beta1/operator.yaml",
        "-f/deploy/extensions/controllers.yaml", "-k/config/overlays/volcano",
        "-k/config/overlays/elastic", "-k/config/overlays/all-namespaces"}) {
    auto args = dry;
    args.insert(args.end(), {std::string(file, 2), kTop + (file + 2)});
    const auto done = plane->kubectl(args);
    EXPECT_EQ(done.exit_code, 0) << file << ": " << done.err;
    std::string err = done.err;
    if (std::string_view(file).find("v1beta1") != std::string_view::npos) {
      // Servers that need this file do not know seccompProfile, nor the labels that warn of it.
      EXPECT_TRUE(err.starts_with("Warning: would violate PodSecurity")) << err;
      err.erase(0, err.find('\n'));
    }
    EXPECT_EQ(err.find("\nWarning"), err.npos) << err;
    EXPECT_FALSE(err.starts_with("Warning")) << err;
  }
  // The test can fail: a field that does not exist is refused.
  auto args = dry;
  args.insert(args.end(), {"-f", "-"});
  EXPECT_NE(plane
                ->kubectl(args, R"({"apiVersion":"v1","kind":"Namespace",
    "metadata":{"name":"a"},"spec":{"nonsense":1}})")
                .exit_code,
            0);
}

TEST_F(DeployTest, KubectlWarnsOfValuesThatHaveNoEffect) {
  install();
  must({"apply", "-f", kTop + "/deploy/v1/warnings.yaml"});
  const auto warnings_for = [&](const std::string& fields) {
    const std::string job =
        "apiVersion: batch.paddlepaddle.org/v1\nkind: PaddleJob\n"
        "metadata: {name: odd, namespace: paddle-system}\nspec:\n" +
        fields +
        "  worker: {replicas: 1, template: {spec: {containers: [{name: main, image: a}]}}}\n";
    const auto done = plane->kubectl({"apply", "--dry-run=server", "-f", "-"}, job);
    EXPECT_EQ(done.exit_code, 0) << "only warnings: " << done.err;
    return done.err;
  };
  EXPECT_TRUE(eventually([&] {  // the server has loaded the policy
    return warnings_for("  cleanPodPolicy: OnFailed\n").find("did you mean OnFailure") !=
           std::string::npos;
  }));
  EXPECT_EQ(warnings_for(""), "");
  const std::string all = warnings_for("  withGloo: 1\n  mode: Single\n  startInOrder: 1\n");
  for (const char* text : {"withGloo has no effect", "mode applies only", "startInOrder applies"}) {
    EXPECT_NE(all.find(text), std::string::npos) << all;
  }
}

TEST_F(DeployTest, ManagersFitTheRestrictedProfileAndRunWhatTheirNameSays) {
  install();
  must({"create", "namespace", "strict"});
  must({"label", "namespace", "strict", "pod-security.kubernetes.io/enforce=restricted"});
  const Json found = Json::parse(must({"-n", kSystem, "get", "deployments", "-o", "json"}));
  std::vector<std::string> names;
  for (const Json& deployment : found["items"]) {
    const std::string name = deployment["metadata"]["name"];
    names.push_back(name);
    Json pod = deployment["spec"]["template"];
    pod["apiVersion"] = "v1";
    pod["kind"] = "Pod";
    pod["metadata"]["name"] = name;
    pod["metadata"]["namespace"] = "strict";
    EXPECT_TRUE(client->create(kinds::kPods, pod)) << name;
    pod["metadata"]["name"] = name + "-2";
    pod["spec"]["securityContext"].erase("seccompProfile");
    EXPECT_TRUE(client->create(kinds::kPods, pod).is(Code::kForbidden)) << name;
    const Json& container = pod["spec"]["containers"][0];
    EXPECT_EQ(container["command"], Json::array({"/manager"}));
    EXPECT_EQ(container["args"], Json::array({"--leader-elect", "--namespace=paddle-system"}));
    EXPECT_TRUE(container["securityContext"]["readOnlyRootFilesystem"]);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"paddle-controller-manager", "paddle-samplejob-manager",
                                      "paddle-sampleset-manager"}));
}

// Each manager under the rights of its account, and no others.
TEST_F(DeployTest, ManagersAreRefusedNothing) {
  install();
  const auto bound = [&](const std::string& kind, const std::string& ns, const std::string& name,
                         const std::vector<std::string>& users) {
    Json subjects = Json::array();
    for (const std::string& user : users) {
      subjects.push_back(
          {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "User"}, {"name", user}});
    }
    must({"-n", ns, "patch", kind, name, "--type=merge", "-p",
          Json{{"subjects", std::move(subjects)}}.dump()});
  };
  bound("rolebinding", kSystem, "paddle-manager-rolebinding", {"alice"});
  bound("rolebinding", kSystem, "paddle-leader-election-rolebinding", {"alice"});
  bound("rolebinding", "kube-node-lease", "paddle-manager-node-lease-rolebinding", {"alice"});
  bound("clusterrolebinding", kSystem, "paddle-manager-cluster-rolebinding", {"alice"});
  bound("rolebinding", kSystem, "paddle-sampleset-rolebinding", {"bob"});
  bound("rolebinding", "paddle-volumes", "paddle-sampleset-volumes-rolebinding", {"bob"});
  bound("rolebinding", kSystem, "paddle-sampleset-leader-election-rolebinding", {"bob"});
  bound("clusterrolebinding", kSystem, "paddle-sampleset-cluster-rolebinding", {"bob"});
  bound("clusterrolebinding", kSystem, "paddle-policies-rolebinding", {"alice", "bob"});
  run_manager("paddlejob", "alice");
  run_manager("sampleset", "bob");
  must({"apply", "-f", "-"}, kWork);
  ASSERT_TRUE(eventually([&] {
    return there(kinds::kPods, "plain-worker-1") &&
           there(kinds::kStatefulSets, "imagenet-runtime") &&
           owners(kinds::kClaims, "imagenet") == 2;
  }));
  const std::string volume = get(kinds::kClaims, "imagenet")["spec"]["volumeName"];
  must({"-n", kSystem, "delete", "pdj", "--all", "--wait=false"});
  must({"-n", kSystem, "delete", "samplesets", "--all", "--wait=false"});
  ASSERT_TRUE(eventually([&] {
    for (const auto& [resource, name] : {std::pair{kinds::kClaims, std::string("imagenet")},
                                         std::pair{kinds::kPersistentVolumes, volume}}) {
      const Json object =
          get(resource, name);  // there is no controller here that protects and releases them
      if (!object.contains("/metadata/deletionTimestamp"_json_pointer)) continue;
      (void)client->patch(resource, {resource.namespaced ? kSystem : "", name},
                          {.body = {{"metadata", {{"finalizers", nullptr}}}}});
    }
    return !there(kinds::kPersistentVolumes, volume);
  }));
  std::istringstream log(read_file(plane->audit_log()));
  int asked = 0;
  for (std::string line; std::getline(log, line);) {
    const bool ours = line.find("\"username\":\"alice\"") != line.npos ||
                      line.find("\"username\":\"bob\"") != line.npos;
    asked += ours;
    EXPECT_FALSE(ours && line.find("\"code\":403") != line.npos) << line;
  }
  EXPECT_GT(asked, 30);
}

TEST_F(DeployTest, AManagerWaitsForItsDefinitionsAndOutlivesThem) {
  must({"create", "namespace", kSystem});
  auto port = ReservedPort::any();
  ASSERT_TRUE(port);
  const std::string address = "127.0.0.1:" + std::to_string(port->number());
  const auto says = [&](const std::string& path) {
    const auto answer = call({.url = "http://" + address + path});
    return answer ? answer->status : 0;
  };
  const pid_t manager = run_manager("paddlejob", "admin", address);
  const auto log = [&] { return read_file(plane->directory() + "/paddlejob.log"); };
  const auto count = [&](const std::string& text) {
    const std::string all = log();
    size_t found = 0;
    for (size_t at = all.find(text); at != all.npos; at = all.find(text, at + 1)) ++found;
    return found;
  };
  ASSERT_TRUE(eventually([&] { return count("apply its CustomResourceDefinition") > 0; })) << log();
  EXPECT_EQ(says("/healthz"), 200);
  EXPECT_EQ(says("/readyz"), 500);

  must({"apply", "-f", kTop + "/deploy/v1/crd.yaml"});
  ASSERT_TRUE(eventually([&] { return says("/readyz") == 200; })) << log();
  const size_t before = count("apply its CustomResourceDefinition");
  must({"delete", "-f", kTop + "/deploy/v1/crd.yaml"});
  ASSERT_TRUE(eventually([&] { return count("apply its CustomResourceDefinition") > before; }))
      << log();
  EXPECT_EQ(says("/healthz"), 200);

  must({"apply", "-f", kTop + "/deploy/v1/crd.yaml"});
  ASSERT_TRUE(eventually([&] {
    return plane->kubectl({"apply", "-f", "-"}, kWork).exit_code == 0;
  }));
  EXPECT_TRUE(eventually([&] { return there(kinds::kPods, "plain-worker-0"); })) << log();
  const auto ended = plane->keeper().status(manager);
  ASSERT_TRUE(ended);
  EXPECT_FALSE(*ended) << describe(**ended) << log();
}

// With the controllers of kube-controller-manager that deletion needs, and this test as kubelet.
struct UninstallTest : DeployTest {
  std::jthread kubelet{};
  std::unique_ptr<net::HttpServer> runtime{};

  void start_controllers() {
    const auto started = plane->start_controllers(
        {"garbage-collector-controller", "namespace-controller", "statefulset-controller",
         "persistentvolume-binder-controller", "persistentvolumeclaim-protection-controller",
         "persistentvolume-protection-controller"});
    ASSERT_TRUE(started) << started.error().message;
    kubelet = std::jthread([this](std::stop_token stop) {
      while (system_clock().sleep(50ms, stop)) end_pods();
    });
  }
  // A pod that is being deleted has ended.
  void end_pods() {
    std::vector<ObjectKey> ending;
    const auto look = [&](std::string_view text) -> Result<> {
      const Json meta = Json::parse(text)["metadata"];
      if (meta.contains("deletionTimestamp")) ending.push_back({meta["namespace"], meta["name"]});
      return Done{};
    };
    (void)client->list(kinds::kPods, {}, look);
    for (const auto& key : ending) (void)client->remove(kinds::kPods, key, {.grace_seconds = 0});
  }
  // Answers as a runtime that has nothing, at an address that no other test has.
  std::string answer_as_runtime() {
    const int pid = getpid();
    std::string host =
        "127." + std::to_string(1 + pid / 250 % 250) + "." + std::to_string(1 + pid % 250) + ".1";
    const auto answer = [](const net::ServerRequest& ask) {
      if (ask.path != "/v1/status") return net::ServerReply{.status = 404, .body = "{}"};
      return net::ServerReply{.body = R"({"engine":"samplefs"})",
                              .content_type = "application/json"};
    };
    const auto file = [&](const std::string& key) {
      const auto text =
          base64_decode(get(kinds::kSecrets, "imagenet-runtime")["data"].value(key, std::string()));
      const std::string path = plane->directory() + "/runtime-" + key;
      EXPECT_TRUE(text && write_file(path, *text)) << key;
      return path;
    };
    auto started =
        net::HttpServer::start({host, 7716}, answer, {},
                               {.certificate_file = file("tls.crt"), .key_file = file("tls.key")});
    EXPECT_TRUE(started) << started.error().message;
    if (started) runtime = *std::move(started);
    return host;
  }
  // A runtime runs on a node, which then carries its labels.
  void run_runtime() {
    const std::string address = answer_as_runtime();
    must({"create", "-f", "-"},
         R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"node-0"}})");
    ASSERT_TRUE(eventually([&] { return there(kinds::kPods, "imagenet-runtime-0"); }));
    must({"create", "--raw", "/api/v1/namespaces/paddle-system/pods/imagenet-runtime-0/binding",
          "-f", "-"},
         R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"imagenet-runtime-0"},
             "target":{"apiVersion":"v1","kind":"Node","name":"node-0"}})");
    const auto said =
        client->patch(kinds::kPods, {kSystem, "imagenet-runtime-0"},
                      {.body = {{"status", {{"phase", "Running"}, {"podIP", address}}}}}, "status");
    ASSERT_TRUE(said) << said.error().message;
    ASSERT_TRUE(eventually([&] { return node_labels() == 2; }));
  }
  int node_labels() {
    int found = 0;
    const Json node = get(kinds::kNodes, "node-0");
    const Json labels = node.value("/metadata/labels"_json_pointer, Json::object());
    for (const auto& [label, value] : labels.items()) {
      found += label.starts_with("paddlepaddle.org/");
    }
    return found;
  }
  void use() {
    install();
    start_controllers();
    must({"apply", "-f", "-"}, kWork);
    ASSERT_TRUE(eventually([&] {
      return there(kinds::kPods, "plain-worker-1") &&
             get(kinds::kClaims, "imagenet").value("/status/phase"_json_pointer, "") == "Bound" &&
             owners(kinds::kStatefulSets, "imagenet-runtime") == 2;
    }));
    run_runtime();
  }
  void uninstall() {
    const auto done = plane->kubectl(
        {"delete", "-f", kTop + "/deploy/v1/crd.yaml", "-f", kTop + "/deploy/v1/operator.yaml"});
    EXPECT_EQ(done.exit_code, 0) << done.out << done.err;
    EXPECT_FALSE(there(kinds::kNamespaces, kSystem));
    EXPECT_FALSE(there(kinds::kNamespaces, "paddle-volumes"));
    EXPECT_EQ(must({"get", "crd", "-o", "name"}), "");
    EXPECT_TRUE(eventually([&] { return must({"get", "pv", "-o", "name"}).empty(); }));
    for (const char* kind : {"clusterroles", "clusterrolebindings"}) {
      const std::string left = must({"get", kind, "-o", "name"});
      EXPECT_EQ(left.find("paddle"), left.npos) << left;
    }
  }
};

TEST_F(UninstallTest, EndsAndLeavesNothingWhileJobsAndSetsLive) {
  run_manager("paddlejob,sampleset", "admin");
  use();
  uninstall();
  EXPECT_TRUE(eventually([&] { return node_labels() == 0; }));
}

TEST_F(UninstallTest, EndsWithoutAnOperator) {
  const pid_t manager = run_manager("paddlejob,sampleset", "admin");
  use();
  ASSERT_TRUE(plane->keeper().kill(manager));
  uninstall();
  // No operator is left that knows them; the next one removes them.
  EXPECT_EQ(node_labels(), 2);
  install();
  run_manager("sampleset", "admin");
  EXPECT_TRUE(eventually([&] { return node_labels() == 0; }));
}

// The whole namespace at once, with the managers in it; definitions stay.
TEST_F(UninstallTest, ANamespaceIsDeletedWithSetsAndManagersInIt) {
  const pid_t manager = run_manager("paddlejob,sampleset", "admin");
  use();
  ASSERT_TRUE(plane->keeper().kill(manager));
  must({"delete", "namespace", kSystem});
  EXPECT_FALSE(there(kinds::kNamespaces, kSystem));
  install();
  run_manager("sampleset", "admin");
  EXPECT_TRUE(eventually([&] {
    return must({"get", "pv", "-o", "name"}).empty() && node_labels() == 0;
  }));
}

}  // namespace
}  // namespace paddle::test
