// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/manifests.h"

#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "engine/names.h"

namespace paddle::engine::juicefs {
namespace {

using api::Json;

const Credentials kSecret = {{"name", "imagenet"},       {"storage", "s3"},
                             {"bucket", "http://s3/b"},  {"metaurl", "redis://:canary@host/0"},
                             {"access-key", "canary-a"}, {"secret-key", "canary-s"}};

api::SampleSet set_named(const std::string& ns = "train") {
  api::SampleSet set{.meta = {.key = {ns, "imagenet"}, .uid = "0123456789ab"}};
  set.spec.partitions = 3;
  set.spec.source = api::SampleSource{.uri = "bos://bucket.bj.bcebos.com/demo"};
  set.spec.secret = api::SecretReference{.name = "imagenet"};
  return set;
}

Manifests made(const api::SampleSet& set, const RuntimeOptions& options = {.image = "paddle:1"}) {
  auto all = JuicefsManifestBuilder().manifests(set, kSecret, options);
  EXPECT_TRUE(all) << (all ? "" : all.error().message);
  return all ? *all : Manifests{};
}

const Json& pod_of(const Manifests& all) { return (*all.runtimes)["spec"]["template"]["spec"]; }

bool has_argument(const Json& pod, const std::string& argument) {
  for (const Json& word : pod["containers"][0]["command"]) {
    if (word == argument) return true;
  }
  return false;
}

const Json& volume_of(const Json& pod, const std::string& name) {
  for (const Json& volume : pod["volumes"]) {
    if (volume["name"] == name) return volume;
  }
  ADD_FAILURE() << "no volume " << name;
  return pod;
}

TEST(JuicefsManifests, OnlyAVerificationIsRefused) {
  for (const api::JobKind kind : api::kJobKinds) {
    EXPECT_EQ(JuicefsManifestBuilder().refusal(kind).empty(), kind != api::JobKind::kVerify)
        << to_string(kind);
  }
}

TEST(JuicefsManifests, ObjectsHaveTheNamesOfThePublicOperator) {
  const auto all = made(set_named());
  EXPECT_EQ((*all.volume)["metadata"]["name"], "train-imagenet-01234567");
  EXPECT_FALSE((*all.volume)["metadata"].contains("namespace"));
  EXPECT_EQ((*all.claim)["metadata"]["name"], "imagenet");
  EXPECT_EQ((*all.service)["metadata"]["name"], "imagenet-runtime-service");
  EXPECT_EQ((*all.runtimes)["metadata"]["name"], "imagenet-runtime");
  EXPECT_EQ((*all.runtimes)["spec"]["replicas"], 3);
  EXPECT_EQ((*all.runtimes)["spec"]["podManagementPolicy"], "Parallel");
  EXPECT_EQ((*all.credentials)["metadata"]["name"], "imagenet-volume");
  EXPECT_EQ((*all.preparation)["metadata"]["name"], "imagenet-runtime-format");
  EXPECT_EQ((*all.policy)["metadata"]["name"], "imagenet-runtime");
  EXPECT_EQ(all.csi_driver, "csi.juicefs.com");
  for (const auto* each :
       {&all.claim, &all.service, &all.runtimes, &all.credentials, &all.preparation, &all.policy}) {
    EXPECT_EQ((**each)["metadata"]["ownerReferences"][0]["uid"], "0123456789ab");
    EXPECT_EQ((**each)["metadata"]["labels"]["paddlepaddle.org/juicefs-imagenet"], "true");
  }
}

TEST(JuicefsManifests, TheVolumeRefersOnlyToTheCopyOfTheSecret) {
  const Json spec = (*made(set_named()).volume)["spec"];
  EXPECT_EQ(spec["csi"]["driver"], "csi.juicefs.com");
  EXPECT_EQ(spec["csi"]["fsType"], "juicefs");
  EXPECT_EQ(spec["csi"]["volumeHandle"], "train-imagenet-01234567");
  EXPECT_EQ(spec["csi"]["nodePublishSecretRef"],
            (Json{{"name", "train-imagenet-01234567"}, {"namespace", "paddle-volumes"}}));
  const Json& attributes = spec["csi"]["volumeAttributes"];
  EXPECT_EQ(attributes["mountOptions"],
            "cache-dir=/dev/shm/train-imagenet-01234567,cache-size=1024");
  EXPECT_EQ(attributes["juicefs/mount-memory-limit"], "3072Mi");
  EXPECT_EQ(attributes["juicefs/mount-delete-delay"], "5m");
  EXPECT_EQ(attributes["juicefs/clean-cache"], "true");
  EXPECT_EQ(spec["storageClassName"], "paddle-operator");
  EXPECT_EQ(spec["capacity"]["storage"], "10Pi");
  EXPECT_EQ(spec["claimRef"]["name"], "imagenet");
  EXPECT_EQ(spec["persistentVolumeReclaimPolicy"], "Retain");
}

TEST(JuicefsManifests, TheDriverReadsItsSecretWhereTenantsCannotWrite) {
  const auto all = made(set_named(), {.image = "paddle:1", .volume_secrets_namespace = "safe"});
  const Json& secret = *all.driver_credentials;
  const Json reference = (*all.volume)["spec"]["csi"]["nodePublishSecretRef"];
  EXPECT_EQ(reference["name"], secret["metadata"]["name"]);
  EXPECT_EQ(reference["namespace"], "safe");
  EXPECT_EQ(secret["metadata"]["namespace"], "safe");
  // An owner in another namespace would be taken for deleted.
  EXPECT_FALSE(secret["metadata"].contains("ownerReferences"));
  EXPECT_EQ(secret["metadata"]["annotations"]["batch.paddlepaddle.org/sampleset-uid"],
            "0123456789ab");
  std::set<std::string> keys;
  for (const auto& [key, value] : secret["data"].items()) keys.insert(key);
  EXPECT_EQ(keys, (std::set<std::string>{"name", "metaurl", "envs"}));
}

// The mount pod uses it, but the scheduler never sees that pod.
TEST(JuicefsManifests, ARuntimeRequestsTheMemoryOfItsTiers) {
  auto set = set_named();
  const auto resources = [&] { return pod_of(made(set))["containers"][0]["resources"]; };
  EXPECT_EQ(resources()["requests"]["memory"], "1152Mi") << "the default is 1 GiB in /dev/shm";
  set.spec.cache = api::Cache{.levels = {{.medium = "MEM", .path = "/dev/shm/a", .size_mib = 8192},
                                         {.medium = "SSD", .path = "/ssd", .size_mib = 8192}}};
  EXPECT_EQ(resources()["requests"]["memory"], "8320Mi");
  EXPECT_EQ(resources()["limits"]["memory"], "12416Mi");
  set.spec.cache->levels.erase(set.spec.cache->levels.begin());
  EXPECT_EQ(resources()["requests"]["memory"], "128Mi");
  EXPECT_EQ(resources()["limits"]["memory"], "4224Mi");
  EXPECT_EQ((*made(set).preparation)["spec"]["containers"][0]["resources"]["limits"]["memory"],
            "1152Mi");
}

// JuiceFS's driver labels its mount pods with it: a longer one would never be mounted.
TEST(JuicefsManifests, TheHandleOfTheVolumeFitsIntoALabel) {
  auto set = set_named("paddle-system");
  const auto handle_at = [&](std::size_t length) {
    set.meta.key.name = std::string(length, 'n');
    return (*made(set).volume)["spec"]["csi"]["volumeHandle"].get<std::string>();
  };
  const std::string whole = handle_at(40);
  EXPECT_EQ(whole, handle_of(set));  // as it always was
  EXPECT_EQ(handle_of(set).size(), 63u);
  const std::string first = handle_at(41);
  for (const std::size_t length : {41u, 42u, 43u, 44u}) {
    const std::string handle = handle_at(length);
    EXPECT_EQ(handle.size(), 63u);
    EXPECT_TRUE(handle.starts_with("paddle-system-nnn")) << handle;
    EXPECT_TRUE(handle.ends_with("-01234567")) << handle;
    EXPECT_EQ(handle, handle_at(length));
    if (length > 41) {
      EXPECT_NE(handle, first);  // whose name begins alike
    }
    EXPECT_EQ((*made(set).volume)["metadata"]["name"], handle_of(set));
    EXPECT_EQ((*made(set).claim)["spec"]["volumeName"], handle_of(set));
  }
}

TEST(JuicefsManifests, OnlyTheCopyHasSecrets) {
  const auto all = made(set_named());
  for (const auto* each :
       {&all.volume, &all.claim, &all.service, &all.runtimes, &all.preparation, &all.policy}) {
    EXPECT_EQ((*each)->dump().find("canary"), std::string::npos);
  }
  const Json& data = (*all.credentials)["data"];
  EXPECT_NE(base64_decode(data["password"].get<std::string>())->find("canary-s"),
            std::string::npos);
}

TEST(JuicefsManifests, ARuntimeRunsAsRootWithoutPrivileges) {
  const Json pod = pod_of(made(set_named()));
  const Json& container = pod["containers"][0];
  EXPECT_EQ(pod.dump().find("privileged"), std::string::npos);
  EXPECT_FALSE(container["securityContext"]["allowPrivilegeEscalation"]);
  EXPECT_EQ(container["securityContext"]["capabilities"]["drop"], Json::array({"ALL"}));
  EXPECT_FALSE(pod["automountServiceAccountToken"]);
  EXPECT_EQ(container["ports"][0]["name"], "runtime");
  EXPECT_EQ(container["readinessProbe"]["httpGet"]["scheme"], "HTTPS");
  EXPECT_EQ(container["livenessProbe"]["httpGet"]["scheme"], "HTTPS");
  EXPECT_FALSE(container.contains("lifecycle"));  // stopping wipes no cache
}

TEST(JuicefsManifests, ARuntimeMountsTheClaimLikeATrainer) {
  const Json pod = pod_of(made(set_named()));
  EXPECT_EQ(volume_of(pod, "data")["persistentVolumeClaim"]["claimName"], "imagenet");
  const Json& mount = pod["containers"][0]["volumeMounts"][0];
  EXPECT_EQ(mount["mountPath"], "/mnt/imagenet");
  EXPECT_EQ(mount["mountPropagation"], "HostToContainer");
  EXPECT_TRUE(has_argument(pod, "--data=/mnt/imagenet"));
  EXPECT_TRUE(has_argument(pod, "--tls=/etc/paddle-cache/token"));
  EXPECT_TRUE(has_argument(pod, "--source=bos://bucket.bj.bcebos.com/demo"));
}

// A pod of the tenant's namespace: the profile `baseline` of Pod Security allows it.
TEST(JuicefsManifests, NoPodOfASetMountsADirectoryOfItsNode) {
  auto set = set_named();
  set.spec.cache =
      api::Cache{.levels = {{.medium = "SSD", .path = "/ssd/B_b.c/:/nvme/a-b/c", .size_mib = 700},
                            {.medium = "HDD", .path = "/cache", .size_mib = 300}}};
  const auto all = made(set);
  EXPECT_EQ((*all.volume)["spec"]["csi"]["volumeAttributes"]["mountOptions"],
            "cache-dir=/ssd/B_b.c/train-imagenet-01234567:/nvme/a-b/c/train-imagenet-01234567:"
            "/cache/train-imagenet-01234567,cache-size=1000");
  for (const Json& pod : {pod_of(all), (*all.preparation)["spec"]}) {
    EXPECT_EQ(pod.dump().find("hostPath"), std::string::npos);
    std::set<std::string> names;
    for (const Json& volume : pod["volumes"]) names.insert(volume["name"].get<std::string>());
    EXPECT_EQ(names.size(), pod["volumes"].size());
  }
  EXPECT_TRUE(has_argument(pod_of(all), "--cache-mib=1000"));
  EXPECT_EQ(*JuicefsManifestBuilder().cache_mib(set, {}), 1000);
}

TEST(JuicefsManifests, TheSourceUsesItsOwnSecretOrThatOfTheVolume) {
  auto set = set_named();
  EXPECT_EQ(volume_of(pod_of(made(set)), "source-secret")["secret"]["secretName"],
            "imagenet-volume");
  set.spec.source->secret = api::SecretReference{.name = "special"};
  EXPECT_EQ(volume_of(pod_of(made(set)), "source-secret")["secret"]["secretName"], "special");
  EXPECT_TRUE(volume_of(pod_of(made(set)), "source-secret")["secret"]["optional"])
      << "a runtime restarts without the Secret";
  set.spec.source->secret = api::SecretReference{.name = "none"};  // as published examples have it
  EXPECT_TRUE(volume_of(pod_of(made(set)), "source-secret")["secret"]["optional"]);
}

TEST(JuicefsManifests, OurPodsMountTheKeysThatTheDriverDoesNotGet) {
  const auto all = made(set_named());
  const Json& preparing = (*all.preparation)["spec"];
  for (const Json* pod : {&preparing, &pod_of(all)}) {
    const Json& items = volume_of(*pod, "volume-secret")["secret"]["items"];
    EXPECT_EQ(items[1], (Json{{"key", "password"}, {"path", "sealed"}}));
  }
  EXPECT_EQ(preparing["restartPolicy"], "Never");
  EXPECT_TRUE(has_argument(preparing, "format"));
  // It is none of the pods that the Service and the StatefulSet mean.
  EXPECT_FALSE((*all.preparation)["metadata"]["labels"].contains("name"));
  // The same with other credentials, but that it writes them into the volume.
  Json again = *all.preparation;
  again["spec"]["containers"][0]["command"].push_back("--update-keys");
  EXPECT_EQ(*all.preparation_again, again);
}

TEST(JuicefsManifests, RuntimesAreOnePerNodeOnTheNodesOfTheSpec) {
  auto set = set_named();
  set.spec.node_affinity = api::Opaque(Json{{"wanted", 1}});
  set.spec.tolerations = api::Opaque(Json::array({Json{{"key", "gpu"}}}));
  const auto all = made(set);
  const Json& pod = pod_of(all);
  EXPECT_EQ(pod["affinity"]["nodeAffinity"]["wanted"], 1);
  EXPECT_EQ(pod["tolerations"][0]["key"], "gpu");
  EXPECT_EQ((*all.preparation)["spec"]["tolerations"][0]["key"], "gpu");
  const Json& rule =
      pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0];
  EXPECT_EQ(rule["topologyKey"], "kubernetes.io/hostname");
  EXPECT_EQ(rule["labelSelector"]["matchLabels"]["name"], "imagenet-runtime");
}

TEST(JuicefsManifests, TwoSetsOfOneNameShareNothing) {
  const auto here = made(set_named()), there = made(set_named("other"));
  EXPECT_NE((*here.volume)["metadata"]["name"], (*there.volume)["metadata"]["name"]);
  EXPECT_NE((*here.volume)["spec"]["csi"]["volumeAttributes"]["mountOptions"],
            (*there.volume)["spec"]["csi"]["volumeAttributes"]["mountOptions"]);
}

TEST(JuicefsManifests, AnInvalidSpecIsRefusedWithTheReason) {
  const JuicefsManifestBuilder face;
  auto set = set_named();
  EXPECT_TRUE(face.manifests(set, {}, {}).is(Code::kInvalid));
  set.spec.source->uri = "file:///data/x";
  EXPECT_TRUE(face.manifests(set, kSecret, {}).is(Code::kInvalid));
  set.spec.source.reset();
  EXPECT_TRUE(face.manifests(set, kSecret, {}).is(Code::kInvalid));
  set.spec.no_sync = true;
  EXPECT_TRUE(face.manifests(set, kSecret, {}));
  set.spec.cache = api::Cache{.levels = {{.path = "/etc"}}};
  EXPECT_TRUE(face.manifests(set, kSecret, {}).is(Code::kInvalid));
}

// What a cluster's network makes of a policy: may a pod with these labels, in a namespace with
// those, speak to a pod of the policy's namespace on that port?
using Labels = std::map<std::string, std::string>;
bool chosen(const Json& selector, const Labels& labels) {
  for (const auto& [key, value] : selector["matchLabels"].items()) {
    const auto found = labels.find(key);
    if (found == labels.end() || value != found->second) return false;
  }
  return true;
}
bool lets_in(const Json& policy, const Labels& to, const Labels& from, const Labels& from_space,
             bool same_space, int port) {
  const Json& spec = policy["spec"];
  if (!chosen(spec["podSelector"], to)) return true;  // it is not about that pod
  for (const Json& rule : spec["ingress"]) {
    bool port_matches = false;
    for (const Json& each : rule["ports"]) port_matches |= each["port"] == port;
    for (const Json& peer : rule["from"]) {
      const bool space = peer.contains("namespaceSelector")
                             ? chosen(peer["namespaceSelector"], from_space)
                             : same_space;
      const bool pod = !peer.contains("podSelector") || chosen(peer["podSelector"], from);
      if (port_matches && space && pod) return true;
    }
  }
  return false;
}

TEST(JuicefsManifests, ThePolicyAdmitsOnlyTheOperatorAndTheSetsOwnRuntimes) {
  const auto all = made(set_named(), {.image = "paddle:1", .operator_namespace = "ops"});
  const auto labels_of = [](const Json& metadata) { return metadata["labels"].get<Labels>(); };
  const Labels runtime = labels_of((*all.runtimes)["spec"]["template"]["metadata"]);
  const Labels preparing = labels_of((*all.preparation)["metadata"]);
  const int port = pod_of(all)["containers"][0]["ports"][0]["containerPort"];
  const Labels train{{"kubernetes.io/metadata.name", "train"}};
  const Labels ops{{"kubernetes.io/metadata.name", "ops"}};
  const Json& policy = *all.policy;
  EXPECT_TRUE(lets_in(policy, runtime, {{"control-plane", "x"}}, ops, false, port));
  EXPECT_TRUE(lets_in(policy, runtime, runtime, train, true, port));
  EXPECT_FALSE(lets_in(policy, runtime, runtime, train, true, port + 1));
  EXPECT_FALSE(lets_in(policy, runtime, {{"name", "worker"}}, train, true, port));
  EXPECT_FALSE(lets_in(policy, runtime, preparing, train, true, port));
  EXPECT_FALSE(
      lets_in(policy, runtime, runtime, {{"kubernetes.io/metadata.name", "else"}}, false, port));
  EXPECT_TRUE(lets_in(policy, preparing, {}, train, true, port));  // it serves nothing
  auto other = set_named();
  other.meta.key.name = "coco";
  const Labels theirs = labels_of((*made(other).runtimes)["spec"]["template"]["metadata"]);
  EXPECT_FALSE(lets_in(policy, runtime, theirs, train, true, port));
}

TEST(JuicefsManifests, VariablesOfTheOptionsReachTheRuntimesContainer) {
  const auto all = made(set_named(), {.environment = {{"SOME_NAME", "a b"}}});
  const Json& env = pod_of(all)["containers"][0]["env"];
  ASSERT_EQ(env.size(), 2u);
  EXPECT_EQ(env[0]["name"], "POD_IP");
  EXPECT_EQ(env[1], (Json{{"name", "SOME_NAME"}, {"value", "a b"}}));
}

}  // namespace
}  // namespace paddle::engine::juicefs
