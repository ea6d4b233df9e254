// SPDX-License-Identifier: Apache-2.0
#include "engine/samplefs/manifests.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine/names.h"

namespace paddle::engine::samplefs {
namespace {

using api::Json;

api::SampleSet set_of(const std::string& uri) {
  api::SampleSet set{.meta = {.key = {"train", "imagenet"}, .uid = "0123456789ab"}};
  set.spec.partitions = 2;
  set.spec.source = api::SampleSource{.uri = uri};
  return set;
}

Manifests made(const api::SampleSet& set) {
  auto all = SamplefsManifestBuilder().manifests(set, {}, {.image = "paddle:1"});
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

TEST(SamplefsManifests, ObjectsHaveTheNamesOfThePublicOperator) {
  const auto all = made(set_of("s3://bucket/prefix"));
  EXPECT_EQ((*all.volume)["metadata"]["name"], "train-imagenet-01234567");
  EXPECT_FALSE((*all.volume)["metadata"].contains("namespace"));
  EXPECT_FALSE((*all.volume)["metadata"].contains("ownerReferences"));
  EXPECT_EQ((*all.claim)["metadata"]["name"], "imagenet");
  EXPECT_EQ((*all.claim)["metadata"]["ownerReferences"][0]["uid"], "0123456789ab");
  EXPECT_EQ((*all.service)["metadata"]["name"], "imagenet-runtime-service");
  EXPECT_EQ((*all.runtimes)["metadata"]["name"], "imagenet-runtime");
  EXPECT_EQ((*all.runtimes)["metadata"]["labels"]["paddlepaddle.org/samplefs-imagenet"], "true");
  EXPECT_EQ((*all.runtimes)["spec"]["replicas"], 2);
  EXPECT_EQ(all.csi_driver, "samplefs.csi.paddlepaddle.org");
}

TEST(SamplefsManifests, VolumeAndClaimNameEachOther) {
  const auto all = made(set_of("s3://bucket/prefix"));
  EXPECT_EQ((*all.volume)["spec"]["claimRef"]["name"], "imagenet");
  EXPECT_EQ((*all.volume)["spec"]["claimRef"]["namespace"], "train");
  EXPECT_EQ((*all.claim)["spec"]["volumeName"], (*all.volume)["metadata"]["name"]);
  EXPECT_EQ((*all.volume)["spec"]["csi"]["volumeHandle"], (*all.volume)["metadata"]["name"]);
}

TEST(SamplefsManifests, RuntimesNeedNoPrivilegeAndNoHostPath) {
  const auto all = made(set_of("s3://bucket/prefix"));
  const std::string text = all.runtimes->dump();
  EXPECT_EQ(text.find("hostPath"), std::string::npos);
  EXPECT_EQ(text.find("privileged"), std::string::npos);
  EXPECT_TRUE(pod_of(all)["securityContext"]["runAsNonRoot"]);
}

TEST(SamplefsManifests, OnOneMachineARuntimeMayOnlyReadWhatRootMay) {
  const auto all =
      SamplefsManifestBuilder().manifests(set_of("file:///data"), {}, {.one_machine = true});
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(pod_of(*all)["securityContext"], (Json{{"runAsUser", 0}}));
  EXPECT_EQ(pod_of(*all)["containers"][0]["securityContext"]["capabilities"],
            (Json{{"drop", {"ALL"}}, {"add", {"DAC_READ_SEARCH"}}}));
}

TEST(SamplefsManifests, OnAClusterADirectoryOfNodesIsASourceOnlyBeneathTheRootsOfTheOperator) {
  const SamplefsManifestBuilder builder;
  const RuntimeOptions options{.source_roots = {"/data/public/", "/ssd"}};
  for (const char* uri : {"file:///data", "file:///data/publicity", "file:///home/me"}) {
    const auto refused = builder.manifests(set_of(uri), {}, options);
    ASSERT_TRUE(refused.is(Code::kInvalid)) << uri;
    EXPECT_NE(refused.error().message.find("--source-roots"), std::string::npos) << uri;
  }
  for (const char* uri : {"file:///data/public", "file:///ssd/a/b", "file:///ssd/"}) {
    EXPECT_TRUE(builder.manifests(set_of(uri), {}, options)) << uri;
    EXPECT_TRUE(builder.manifests(set_of(uri), {}, {}).is(Code::kInvalid)) << uri;
  }
}

TEST(SamplefsManifests, OnAClusterRuntimesServeTlsBehindAPolicy) {
  const auto set = set_of("s3://bucket/prefix");
  const auto all = made(set);
  EXPECT_TRUE(SamplefsManifestBuilder().serves_tls());
  EXPECT_TRUE(has_argument(pod_of(all), "--tls=/etc/paddle-cache/token"));
  EXPECT_EQ(pod_of(all)["containers"][0]["readinessProbe"]["httpGet"]["scheme"], "HTTPS");
  EXPECT_EQ((*all.policy)["spec"]["ingress"][0]["ports"][0]["port"], 7716);
  const SamplefsManifestBuilder local(true);
  EXPECT_FALSE(local.serves_tls());
  const auto here = local.manifests(set, {}, {.one_machine = true});
  ASSERT_TRUE(here);
  EXPECT_FALSE(has_argument(pod_of(*here), "--tls=/etc/paddle-cache/token"));
  EXPECT_FALSE(here->policy);
}

TEST(SamplefsManifests, ASourceOnTheMachineIsMountedReadOnly) {
  const auto all = *SamplefsManifestBuilder(true).manifests(set_of("file:///data/images"), {},
                                                            {.one_machine = true});
  const Json& volume = pod_of(all)["volumes"].back();
  EXPECT_EQ(volume["hostPath"]["path"], "/data/images");
  const Json& mount = pod_of(all)["containers"][0]["volumeMounts"].back();
  EXPECT_EQ(mount["mountPath"], "/data/images");
  EXPECT_TRUE(mount["readOnly"]);
}

TEST(SamplefsManifests, ADirectoryOfTheSystemIsNoSource) {
  const SamplefsManifestBuilder builder(true);
  for (const char* uri : {"file:///etc", "file:///etc/", "file:///proc", "file:///proc/self",
                          "file:///etc/paddle-cache/token", "file:///usr", "file:///",
                          "file:///data/../etc", "file://host/data", "file:///data//a"}) {
    const auto refused = builder.manifests(set_of(uri), {}, {.one_machine = true});
    ASSERT_TRUE(refused.is(Code::kInvalid)) << uri;
    EXPECT_NE(refused.error().message.find("spec.source.uri"), std::string::npos) << uri;
  }
  for (const char* uri :
       {"file:///d", "file:///var/data/images", "file:///etcetera", "file:///data/"}) {
    EXPECT_TRUE(builder.manifests(set_of(uri), {}, {.one_machine = true})) << uri;
  }
}

TEST(SamplefsManifests, CredentialsAreAMountedSecretOnly) {
  auto set = set_of("s3://bucket/prefix");
  EXPECT_FALSE(has_argument(pod_of(made(set)), "--source-secret=/etc/paddle-cache/source"));
  set.spec.secret = api::SecretReference{.name = "general"};
  EXPECT_EQ(pod_of(made(set))["volumes"].back()["secret"]["secretName"], "general");
  set.spec.source->secret = api::SecretReference{.name = "special"};
  EXPECT_EQ(pod_of(made(set))["volumes"].back()["secret"]["secretName"], "special");
  EXPECT_TRUE(has_argument(pod_of(made(set)), "--source-secret=/etc/paddle-cache/source"));
  EXPECT_FALSE(pod_of(made(set))["volumes"].back()["secret"].contains("optional"));
  set.spec.source->secret = api::SecretReference{.name = "none"};
  EXPECT_TRUE(pod_of(made(set))["volumes"].back()["secret"]["optional"]);
}

TEST(SamplefsManifests, KeysOfJobsAreInMemory) {
  const Json pod = pod_of(made(set_of("s3://bucket/prefix")));
  EXPECT_TRUE(has_argument(pod, "--keys=/run/paddle-cache-keys"));
  int mounts = 0;
  for (const Json& mount : pod["containers"][0]["volumeMounts"]) {
    if (mount["mountPath"] != "/run/paddle-cache-keys") continue;
    ++mounts;
    for (const Json& volume : pod["volumes"]) {
      if (volume["name"] != mount["name"]) continue;
      EXPECT_EQ(volume["emptyDir"], (Json{{"medium", "Memory"}, {"sizeLimit", "16Mi"}}));
    }
  }
  EXPECT_EQ(mounts, 1);
}

TEST(SamplefsManifests, TheCacheIsTheFirstLevelOfTheSpec) {
  auto set = set_of("s3://bucket/prefix");
  EXPECT_TRUE(has_argument(pod_of(made(set)), "--cache-mib=0"));
  set.spec.cache = api::Cache{.levels = {{.path = "/ssd/cache", .size_mib = 512}}};
  EXPECT_TRUE(has_argument(pod_of(made(set)), "--cache-mib=512"));
  EXPECT_EQ(pod_of(made(set))["volumes"][0]["csi"]["volumeAttributes"]["path"], "/ssd/cache");
}

TEST(SamplefsManifests, LevelsAndTheirPathsAreTiersInTheirOrder) {
  auto set = set_of("s3://bucket/prefix");
  set.spec.cache =
      api::Cache{.levels = {{.medium = "MEM", .path = "/dev/shm/a", .size_mib = 64},
                            {.medium = "SSD", .path = "/ssd1:/ssd2", .size_mib = 501}}};
  const Json pod = pod_of(made(set));
  const Json& argv = pod["containers"][0]["command"];
  std::string caches;
  for (const Json& each : argv) {
    const auto text = each.get<std::string>();
    if (text.starts_with("--cache") || text.starts_with("--state")) caches += text + " ";
  }
  EXPECT_EQ(caches,
            "--cache=/cache/0 --cache-mib=64 --cache=/cache/1 --cache-mib=250 --cache=/cache/2 "
            "--cache-mib=250 --state=/cache/1 ");
  std::string paths;
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(pod["volumes"][i]["name"], "cache-" + std::to_string(i));
    paths += pod["volumes"][i]["csi"]["volumeAttributes"]["path"].get<std::string>() + " ";
  }
  EXPECT_EQ(paths, "/dev/shm/a /ssd1 /ssd2 ");
  EXPECT_EQ(pod["containers"][0]["resources"]["requests"]["memory"], "192Mi");
}

TEST(SamplefsManifests, ACacheInMemoryIsRequestedAndEveryRuntimeHasALimit) {
  auto set = set_of("s3://bucket/prefix");
  const auto memory_of = [&](const char* kind) {
    return pod_of(made(set))["containers"][0]["resources"][kind]["memory"];
  };
  const auto request = [&] { return memory_of("requests"); };
  EXPECT_EQ(request(), "128Mi");
  EXPECT_EQ(memory_of("limits"), "1152Mi");
  set.spec.cache = api::Cache{.levels = {{.medium = "MEM", .path = "/ram"}}};
  EXPECT_TRUE(has_argument(pod_of(made(set)), "--cache-mib=1024"));
  EXPECT_EQ(request(), "1152Mi");
  EXPECT_EQ(memory_of("limits"), "2176Mi");
  set.spec.cache = api::Cache{.levels = {{.path = "/dev/shm/a", .size_mib = 512}}};
  EXPECT_EQ(request(), "640Mi");
}

TEST(SamplefsManifests, UnsupportedSpecsAreRefused) {
  const SamplefsManifestBuilder face;
  EXPECT_TRUE(face.manifests(set_of("hdfs://name/path"), {}, {}).is(Code::kInvalid));
  EXPECT_TRUE(face.manifests(api::SampleSet{}, {}, {}).is(Code::kInvalid));
  auto set = set_of("s3://bucket/prefix");
  for (const char* wrong : {"/a:/a", "/a:", ":/a"}) {
    set.spec.cache = api::Cache{.levels = {{.path = wrong}}};
    EXPECT_TRUE(face.manifests(set, {}, {}).is(Code::kInvalid)) << wrong;
  }
  set.spec.cache = api::Cache{.levels = {{.path = "/a"}, {.path = "/a"}}};
  EXPECT_TRUE(face.manifests(set, {}, {}).is(Code::kInvalid));
}

TEST(SamplefsManifests, VariablesOfTheOptionsReachTheRuntimesContainer) {
  const auto all = SamplefsManifestBuilder().manifests(set_of("s3://bucket"), {},
                                                       {.environment = {{"SOME_NAME", "a b"}}});
  ASSERT_TRUE(all) << all.error().message;
  const Json& env = pod_of(*all)["containers"][0]["env"];
  ASSERT_EQ(env.size(), 2u);
  EXPECT_EQ(env[0]["name"], "POD_IP");
  EXPECT_EQ(env[1], (Json{{"name", "SOME_NAME"}, {"value", "a b"}}));
}

TEST(SetNames, AreDifferentForSetsOfTheSameNameInTwoNamespaces) {
  auto here = set_of("s3://b"), there = set_of("s3://b");
  there.meta.key.ns = "other";
  EXPECT_NE(handle_of(here), handle_of(there));
  EXPECT_NE(node_label(here), node_label(there));
  EXPECT_EQ(cache_label(here, "samplefs"), cache_label(there, "samplefs"));
}

}  // namespace
}  // namespace paddle::engine::samplefs
