// SPDX-License-Identifier: Apache-2.0
//
// Claims of our driver on one machine: a runtime in a StatefulSet, readers that mount its claim,
// the death of the runtime under them, and the end of everything.

#include <filesystem>
#include <fstream>

#include <signal.h>
#include <unistd.h>

#include "test/local/machine_fixture.h"
#include "test/local/machine_main.h"
#include "test/support/eventually.h"

namespace paddle::local {
namespace {

using test::eventually;
namespace kinds = kube::resources;
namespace fs = std::filesystem;
using Pointer = Json::json_pointer;

class SampleVolumeTest : public MachineTest {
 protected:
  static constexpr const char* kHandle = "default-imagenet-12345678";

  void SetUp() override {
    if (!fs::exists("/dev/fuse")) GTEST_SKIP() << "no /dev/fuse";
    MachineTest::SetUp();
    if (!node_) return;
    create(kinds::kPersistentVolumes, sample_volume(kHandle, "imagenet"));
    create(kinds::kClaims, sample_claim("imagenet", kHandle));
  }

  Json reader(const std::string& name, const std::string& script, const std::string& sub = "") {
    Json made = pod(name, script);
    mount(made, "/data", {{"persistentVolumeClaim", {{"claimName", "imagenet"}}}}, sub);
    return made;
  }

  // The serving process: a grandchild of ours. Other processes are not inspected: reading the
  // command line of a stuck process would block.
  static std::optional<int> runtime() {
    for (const int outer : children_of(::getpid())) {
      for (const int inner : children_of(outer)) {
        std::ifstream file("/proc/" + std::to_string(inner) + "/cmdline");
        std::string line;
        std::getline(file, line);
        if (line.find(kServeSamplesCommand) != std::string::npos) return inner;
      }
    }
    return std::nullopt;
  }

  static std::vector<int> children_of(int process) {
    std::vector<int> found;
    std::error_code error;
    const std::string tasks = "/proc/" + std::to_string(process) + "/task";
    for (const auto& task : fs::directory_iterator(tasks, error)) {
      std::ifstream file(task.path() / "children");
      for (int child = 0; file >> child;) found.push_back(child);
    }
    return found;
  }

  // Kills the runtime and waits for its successor.
  void kill_runtime() {
    const auto serving = runtime();
    ASSERT_TRUE(serving);
    kill(*serving, SIGKILL);
    ASSERT_TRUE(eventually([&] {
      const auto next = runtime();
      return next && next != serving;
    }));
  }
};

TEST_F(SampleVolumeTest, APodWaitsForTheRuntimeAndThenReads) {
  ASSERT_TRUE(eventually([&] {
    return get(kinds::kClaims, "imagenet").value(Pointer("/status/phase"), "") == "Bound";
  }));
  EXPECT_EQ(get(kinds::kPersistentVolumes, kHandle).at(Pointer("/status/phase")), "Bound");

  create(kinds::kPods,
         reader("r", "cat /data/7 /data/train/a; echo x > /data/new || echo refused"));
  create(kinds::kPods, reader("s", "ls /data", "train"));
  EXPECT_TRUE(eventually([&] {
    return get(kinds::kPods, "r")
               .value(Pointer("/status/containerStatuses/0/state/waiting/message"), "")
               .find("waiting for imagenet-runtime to serve the volume") != std::string::npos;
  }));
  EXPECT_TRUE(!fs::exists(directory() + "/mounts") || fs::is_empty(directory() + "/mounts"));

  create(kinds::kStatefulSets, sample_runtime("imagenet", kHandle));
  expect_phase("r", "Succeeded");
  expect_phase("s", "Succeeded");
  EXPECT_TRUE(logs("r").starts_with("7\ndeep\n")) << logs("r");
  EXPECT_TRUE(logs("r").ends_with("refused\n")) << logs("r");
  EXPECT_EQ(logs("s"), "a\n");

  // The mount is removed with its last reader, the cache with its volume.
  EXPECT_TRUE(eventually([&] { return fs::is_empty(directory() + "/mounts"); }));
  const std::string cache = directory() + "/cache/" + kHandle;
  EXPECT_TRUE(fs::exists(cache + "/starts"));
  ASSERT_TRUE(client().remove(kinds::kStatefulSets, {"default", "imagenet-runtime"}));
  ASSERT_TRUE(client().remove(kinds::kClaims, {"default", "imagenet"}));
  EXPECT_TRUE(eventually([&] { return gone(kinds::kPods, "imagenet-runtime-0"); }));
  EXPECT_TRUE(eventually([&] {
    return get(kinds::kPersistentVolumes, kHandle).value(Pointer("/status/phase"), "") ==
           "Released";
  }));
  EXPECT_TRUE(fs::exists(cache));
  ASSERT_TRUE(client().remove(kinds::kPersistentVolumes, {"", kHandle}));
  EXPECT_TRUE(eventually([&] { return !fs::exists(cache); }));
}

TEST_F(SampleVolumeTest, NoReadFailsWhenTheRuntimeIsKilled) {
  create(kinds::kStatefulSets, sample_runtime("imagenet", kHandle));
  create(kinds::kPods, reader("r", "set -e; for i in $(seq 0 399); do cat /data/$i; done"));
  for (const char* seen : {"40\n", "80\n", "120\n", "160\n", "200\n", "240\n", "280\n", "320\n"}) {
    ASSERT_TRUE(eventually([&] { return logs("r").find(seen) != std::string::npos; }));
    kill_runtime();
  }
  expect_phase("r", "Succeeded");
  std::string all;
  for (int i = 0; i < 400; ++i) all += std::to_string(i) + "\n";
  EXPECT_EQ(logs("r"), all);
  EXPECT_GE(get(kinds::kPods, "imagenet-runtime-0")
                .value(Pointer("/status/containerStatuses/0/restartCount"), 0),
            8);
}

TEST_F(SampleVolumeTest, ANodeThatEndsLeavesNoMountAndTheNextOneMountsAgain) {
  create(kinds::kStatefulSets, sample_runtime("imagenet", kHandle));
  Json object = reader("r", "cat /data/7; sleep 1000");
  object["spec"]["restartPolicy"] = "Always";
  create(kinds::kPods, object);
  ASSERT_TRUE(eventually([&] { return logs("r") == "7\n"; }));
  end_node();
  EXPECT_TRUE(fs::is_empty(directory() + "/mounts"));
  EXPECT_FALSE(runtime());
  start_node();
  EXPECT_TRUE(eventually([&] { return logs("r", "previous=true") == "7\n" && logs("r") == "7\n"; }))
      << logs("r");
}

TEST_F(SampleVolumeTest, AHostPathVolumeIsBoundBySizeAndRead) {
  fs::create_directories(scratch_.path() + "/samples");
  std::ofstream(scratch_.path() + "/samples/1") << "pixels\n";
  create(kinds::kPersistentVolumes, {{"apiVersion", "v1"},
                                     {"kind", "PersistentVolume"},
                                     {"metadata", {{"name", "disk"}}},
                                     {"spec",
                                      {{"capacity", {{"storage", "5Gi"}}},
                                       {"accessModes", Json::array({"ReadWriteOnce"})},
                                       {"hostPath", {{"path", scratch_.path() + "/samples"}}}}}});
  create(kinds::kClaims, {{"apiVersion", "v1"},
                          {"kind", "PersistentVolumeClaim"},
                          {"metadata", {{"name", "mine"}, {"namespace", "default"}}},
                          {"spec",
                           {{"accessModes", Json::array({"ReadWriteOnce"})},
                            {"resources", {{"requests", {{"storage", "2Gi"}}}}}}}});
  Json object = pod("p", "cat /data/1");
  mount(object, "/data", {{"persistentVolumeClaim", {{"claimName", "mine"}}}});
  create(kinds::kPods, object);
  expect_phase("p", "Succeeded");
  EXPECT_EQ(logs("p"), "pixels\n");
}

}  // namespace
}  // namespace paddle::local
