// SPDX-License-Identifier: Apache-2.0
//
// What a pod cannot reach: other file systems of the machine, its devices, the cluster's own files,
// capabilities, other users. Each refusal has its counterpart that succeeds.

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "test/local/pod_runner_fixture.h"

namespace paddle::local {
namespace {

// A directory beside /tmp, of which every pod has its own; removed with what is mounted there.
class MachineDirectory {
 public:
  MachineDirectory() : path_("/var/lib/paddle-test-" + std::to_string(getpid())) {
    fs::create_directories(path_);
  }
  ~MachineDirectory() {
    ::umount2((path_ + "/disk").c_str(), MNT_DETACH);
    ::umount2((path_ + "/alias").c_str(), MNT_DETACH);
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

  // A second file system with one file; a bind of a directory where there are no loop devices.
  void mount_disk() const {
    fs::create_directories(path_ + "/disk");
    const std::string image = path_ + "/image";
    { std::ofstream(image) << ""; }
    fs::resize_file(image, 16 << 20);
    const bool looped = std::system(("mkfs.ext4 -q " + image + " && mount -o loop " + image + " " +
                                     path_ + "/disk 2>/dev/null")
                                        .c_str()) == 0;
    if (!looped) bind("behind", "disk");
    std::ofstream(path_ + "/disk/data") << "of the machine\n";
    ASSERT_EQ(::chmod((path_ + "/disk").c_str(), 0755), 0);
  }
  void bind(const std::string& from, const std::string& to) const {
    fs::create_directories(path_ + "/" + from);
    fs::create_directories(path_ + "/" + to);
    ASSERT_EQ(::mount((path_ + "/" + from).c_str(), (path_ + "/" + to).c_str(), nullptr, MS_BIND,
                      nullptr),
              0);
  }

 private:
  const std::string path_;
};

class PodIsolationTest : public PodRunnerTest {
 protected:
  std::string run_to_end(const PodSpec& spec, const std::string& phase = "Succeeded") {
    auto runner = run(spec);
    wait_phase(spec, phase);
    return output(spec);
  }
};

TEST_F(PodIsolationTest, WritesToASecondFileSystemDisappearWithThePod) {
  const MachineDirectory machine;
  machine.mount_disk();
  const std::string disk = machine.path() + "/disk";
  const auto spec = pod("cat " + disk + "/data; echo pod > " + disk + "/data; echo pod > " + disk +
                        "/new; cat " + disk + "/data " + disk + "/new");
  EXPECT_EQ(run_to_end(spec), "of the machine\npod\npod\n");
  EXPECT_EQ(read_file(disk + "/data"), "of the machine\n");
  EXPECT_FALSE(fs::exists(disk + "/new")) << "a pod wrote to the machine";

  auto volume = pod("echo volume > /disk/new; cat /disk/data");
  volume.volumes = {{"d", HostPathVolume{.path = disk}}};
  volume.containers[0].mounts = {{.volume = "d", .path = "/disk"}};
  EXPECT_EQ(run_to_end(volume), "of the machine\n");
  EXPECT_EQ(read_file(disk + "/new"), "volume\n") << "a hostPath volume is the machine's own";
}

TEST_F(PodIsolationTest, ThereAreNoDisksInDevAndNoneCanBeCreated) {
  auto spec =
      pod("find /dev -type b | wc -l; echo zero > /dev/null; head -c 2 /dev/zero | wc -c; "
          "test -c /dev/urandom && test -w /dev/shm && test -e /dev/ptmx && echo usable; "
          "mknod /tmp/disk b 7 0 2>/dev/null && echo created; "
          "python3 -c 'import os; print(os.ttyname(os.openpty()[1]))'; echo end");
  EXPECT_EQ(run_to_end(spec), "0\n2\nusable\n/dev/pts/0\nend\n");

  spec =
      pod("mknod /tmp/disk b 7 0 && head -c 1 /tmp/disk; mknod /dev/disk b 7 0; "
          "head -c 1 /dev/disk; mknod /disk b 7 0; head -c 1 /disk; mknod /v/disk b 7 0; "
          "head -c 1 /v/disk; echo end");
  spec.containers[0].security.capabilities = kAllCapabilities;
  spec.volumes = {{"v", EmptyDirVolume{}}};
  spec.containers[0].mounts = {{.volume = "v", .path = "/v"}};
  const std::string out = run_to_end(spec);
  EXPECT_NE(out.find("Permission denied"), out.npos) << out;
  EXPECT_TRUE(out.ends_with("end\n"));
  EXPECT_EQ(out.find("created"), out.npos);
  std::size_t refused = 0;
  for (std::size_t at = out.find("Permission denied"); at != out.npos;
       at = out.find("Permission denied", at + 1)) {
    ++refused;
  }
  EXPECT_EQ(refused, 4u) << out;
}

TEST_F(PodIsolationTest, PrivilegedPodsHaveTheMachinesDevices) {
  auto spec = pod("ls /dev | sort | tr '\\n' ' '");
  spec.containers[0].security = {.capabilities = kAllCapabilities, .privileged = true};
  const std::string all = run_to_end(spec);
  for (const auto& entry : fs::directory_iterator("/dev")) {
    EXPECT_NE(all.find(entry.path().filename().string()), all.npos) << entry.path();
  }
}

TEST_F(PodIsolationTest, SharedMemoryIsThePodsOwnAndGoesWithIt) {
  std::ofstream("/dev/shm/paddle-test-of-the-machine") << "x";
  const auto spec = pod("ls -A /dev/shm; echo mine > /dev/shm/mine; cat /dev/shm/mine; sleep 1000");
  auto runner = run(spec);
  wait_phase(spec, "Running");
  while (output(spec).empty()) system_clock().sleep(10ms, {});
  EXPECT_EQ(output(spec), "mine\n");
  EXPECT_FALSE(fs::exists("/dev/shm/mine"));
  runner.reset();
  remove_pod_data(directory_, spec.meta.uid);
  EXPECT_FALSE(fs::exists("/dev/shm/paddle-" + spec.meta.uid + "-.shm"));
  fs::remove("/dev/shm/paddle-test-of-the-machine");
}

TEST_F(PodIsolationTest, TheKernelsSettingsCannotBeChanged) {
  auto spec =
      pod("cat /proc/sys/kernel/core_pattern > /dev/null && echo read; "
          "(echo '|/tmp/x' > /proc/sys/kernel/core_pattern) 2>/dev/null && echo written; "
          "(echo h > /proc/sysrq-trigger) 2>/dev/null && echo triggered; "
          "head -c 1 /proc/kcore 2>/dev/null | wc -c; "
          "mount -t tmpfs none /mnt 2>/dev/null && echo mounted; echo end");
  EXPECT_EQ(run_to_end(spec), "read\n0\nend\n");
}

TEST_F(PodIsolationTest, TheClustersOwnFilesAreHiddenUnderEveryName) {
  const MachineDirectory machine;
  const std::string cluster = machine.path() + "/cluster";
  fs::create_directories(cluster + "/api");
  std::ofstream(cluster + "/api/token") << "canary\n";
  std::ofstream(cluster + "/kubeconfig") << "canary\n";
  std::ofstream(cluster + "/script") << "visible\n";
  machine.bind("cluster", "alias");
  hidden_ = {cluster + "/api", cluster + "/kubeconfig"};
  auto spec = pod("grep -rs canary " + machine.path() + " /host; cat " + cluster + "/script; cat " +
                  cluster + "/kubeconfig; ls " + cluster + "/api; echo end");
  spec.volumes = {{"host", HostPathVolume{.path = machine.path()}}};
  spec.containers[0].mounts = {{.volume = "host", .path = "/host"}};
  EXPECT_EQ(run_to_end(spec), "visible\nend\n");

  auto inside = pod("true");
  inside.volumes = {{"token", HostPathVolume{.path = cluster + "/api"}}};
  inside.containers[0].mounts = {{.volume = "token", .path = "/token"}};
  auto runner = run(inside);
  const auto state = wait_phase(inside, "Failed");
  EXPECT_NE(state.containers.at("main").terminated->message.find("pods cannot mount it"),
            std::string::npos)
      << state.containers.at("main").terminated->message;
}

TEST_F(PodIsolationTest, CapabilitiesAreThoseOfTheSecurityContext) {
  const auto caps = [&](Capabilities set) {
    auto spec =
        pod("grep -E '^Cap(Bnd|Eff|Prm|Inh|Amb)' /proc/self/status | cut -f 2 | tr '\\n' ' '");
    spec.containers[0].security.capabilities = set;
    return run_to_end(spec);
  };
  const std::string none = "0000000000000000 ";
  EXPECT_EQ(caps(0), none + none + none + none + none);
  const std::string chown = "0000000000000001 ";
  EXPECT_EQ(caps(1), none + chown + chown + chown + none);
}

TEST_F(PodIsolationTest, APodRunsAsItsUserWithItsGroupsAndVolumes) {
  objects_.secret = [](const std::string&) { return Data{{"key", "hidden\n"}}; };
  auto spec = pod(
      "id -u; id -g; id -G; cat /secret/key; touch /scratch/file && stat -c %g /scratch/file; "
      "touch /tmp/mine && echo again >> /dev/stdout; touch /etc/mine 2>/dev/null || echo refused; "
      "grep CapEff /proc/self/status | cut -f 2");
  spec.volumes = {{"k", ObjectVolume{.secret = true, .name = "key", .mode = 0400}},
                  {"w", EmptyDirVolume{}}};
  spec.containers[0].mounts = {{.volume = "k", .path = "/secret"},
                               {.volume = "w", .path = "/scratch"}};
  spec.containers[0].security = {
      .user = 1234, .group = 1235, .groups = {2000, 3000}, .fs_group = 2000};
  EXPECT_EQ(run_to_end(spec),
            "1234\n1235\n1235 2000 3000\nhidden\n2000\nagain\nrefused\n0000000000000000\n");
}

TEST_F(PodIsolationTest, AReadOnlyRootLeavesVolumesAndSharedMemoryWritable) {
  const MachineDirectory machine;
  machine.mount_disk();
  auto spec =
      pod("for path in / /etc /tmp " + machine.path() +
          "/disk /scratch /dev/shm; do touch $path/x 2>/dev/null && echo $path; done; echo end");
  spec.volumes = {{"w", EmptyDirVolume{}}};
  spec.containers[0].mounts = {{.volume = "w", .path = "/scratch"}};
  spec.containers[0].security.read_only_root = true;
  EXPECT_EQ(run_to_end(spec), "/scratch\n/dev/shm\nend\n");
}

TEST_F(PodIsolationTest, NoNewPrivilegesIsSetWhereEscalationIsForbidden) {
  auto spec = pod("grep NoNewPrivs /proc/self/status | cut -f 2");
  EXPECT_EQ(run_to_end(spec), "0\n");
  spec = pod("grep NoNewPrivs /proc/self/status | cut -f 2");
  spec.containers[0].security.no_new_privileges = true;
  EXPECT_EQ(run_to_end(spec), "1\n");
}

}  // namespace
}  // namespace paddle::local
