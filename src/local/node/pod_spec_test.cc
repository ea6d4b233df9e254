// SPDX-License-Identifier: Apache-2.0
#include "local/node/pod_spec.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle::local {
namespace {

using api::Json;

api::Json pod_json() {
  return api::Json::parse(R"({
    "metadata": {"name": "p", "namespace": "n", "uid": "u"},
    "spec": {
      "restartPolicy": "OnFailure",
      "initContainers": [{"name": "coord-paddle", "image": "i", "command": ["sh", "-c", "true"]}],
      "containers": [{"name": "c", "image": "i", "command": ["python"], "args": ["t.py"],
        "env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "k"}}}],
        "volumeMounts": [{"name": "d", "mountPath": "/data", "readOnly": true}]}],
      "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "imagenet"}},
                  {"name": "s", "emptyDir": {"medium": "Memory"}},
                  {"name": "w", "downwardAPI": {"items": [
                    {"path": "go", "fieldRef": {"fieldPath": "metadata.annotations['go']"}}]}}]
    }})");
}

TEST(DecodePodSpec, DecodesWhatAMachineCanRun) {
  const auto pod = decode_pod_spec(pod_json());
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->restart, RestartPolicy::kOnFailure);
  EXPECT_EQ(pod->init.at(0).name, "coord-paddle");
  EXPECT_EQ(pod->containers.at(0).args, std::vector<std::string>{"t.py"});
  EXPECT_EQ(pod->volumes.at("d"), VolumeSource(ClaimVolume{.claim = "imagenet"}));
  EXPECT_EQ(pod->volumes.at("s"), VolumeSource(EmptyDirVolume{.memory = true}));
  EXPECT_EQ(pod->volumes.at("w"),
            VolumeSource(DownwardVolume{{{"go", "metadata.annotations['go']"}}}));
}

TEST(DecodePodSpec, RejectsUnsupportedPodsInOneSentence) {
  auto nfs = pod_json();
  nfs["spec"]["volumes"][0] = {{"name", "d"}, {"nfs", {{"server", "s"}, {"path", "/"}}}};
  EXPECT_NE(decode_pod_spec(nfs).error().message.find("volume 'd' has a type"), std::string::npos);

  auto unmounted = pod_json();
  unmounted["spec"]["containers"][0]["volumeMounts"][0]["name"] = "x";
  EXPECT_TRUE(decode_pod_spec(unmounted).is(Code::kInvalid));

  auto empty = pod_json();
  empty["spec"]["containers"] = api::Json::array();
  EXPECT_TRUE(decode_pod_spec(empty).is(Code::kInvalid));

  for (const char* hostile :
       {"null", "[]", R"({"metadata":{}})", R"({"metadata":{},"spec":[]})",
        R"({"metadata":{},"spec":{"containers":[7]}})",
        R"({"metadata":{},"spec":{"containers":[{"name":"a","command":[1]}]}})"}) {
    EXPECT_TRUE(decode_pod_spec(api::Json::parse(hostile)).is(Code::kInvalid)) << hostile;
  }
}

TEST(DecodePodSpec, DecodesInlineVolumesOfARuntimeAndRejectsOtherDriversByName) {
  const auto with = [](const Json& csi) {
    return decode_pod_spec({{"metadata", {{"name", "p"}, {"namespace", "n"}}},
                            {"spec",
                             {{"containers", Json::array({Json{{"name", "c"}}})},
                              {"volumes", Json::array({Json{{"name", "v"}, {"csi", csi}}})}}}});
  };
  const auto ours = [](const Json& attributes) {
    return Json{{"driver", "samplefs.csi.paddlepaddle.org"}, {"volumeAttributes", attributes}};
  };
  const auto cache = with(ours({{"volume", "cache"}, {"handle", "h"}, {"path", "/ssd"}}));
  ASSERT_TRUE(cache) << cache.error().message;
  EXPECT_EQ(cache->volumes.at("v"), VolumeSource(RuntimeVolume{false, "h", "/ssd"}));
  const auto session = with(ours({{"volume", "session"}, {"handle", "h"}}));
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(session->volumes.at("v"), VolumeSource(RuntimeVolume{true, "h", ""}));

  EXPECT_TRUE(with(ours({{"volume", "else"}, {"handle", "h"}})).is(Code::kInvalid));
  EXPECT_TRUE(with(ours({{"volume", "cache"}, {"handle", "../h"}})).is(Code::kInvalid));
  EXPECT_TRUE(
      with(ours({{"volume", "cache"}, {"handle", "h"}, {"path", "ssd"}})).is(Code::kInvalid));
  const auto other = with({{"driver", "ebs.csi.aws.com"}});
  ASSERT_TRUE(other.is(Code::kInvalid));
  EXPECT_NE(other.error().message.find("ebs.csi.aws.com"), std::string::npos);
}

}  // namespace
}  // namespace paddle::local
