// SPDX-License-Identifier: Apache-2.0
//
// Pods as real processes: namespaces, private files, volumes, exit codes, restarts, clean ends.

#include <signal.h>
#include <sys/stat.h>

#include "local/node/restart_backoff.h"
#include "test/local/pod_runner_fixture.h"

namespace paddle::local {
namespace {

TEST_F(PodRunnerTest, RunsInItsOwnPidMountAndNetworkNamespaces) {
  const auto spec =
      pod("echo pid=$$$$ host=$(hostname) files=$(ls /proc | grep -c '^[0-9]*$'); "
          "echo private > /etc/paddle-private; cat /etc/paddle-private; ls /sys/class/net");
  auto runner = run(spec);
  wait_phase(spec, "Succeeded");
  const std::string out = output(spec);
  EXPECT_NE(out.find("pid=1 host=" + spec.meta.key.name), std::string::npos) << out;
  EXPECT_NE(out.find("private"), std::string::npos);
  EXPECT_FALSE(fs::exists("/etc/paddle-private")) << "a pod wrote to the machine";
  EXPECT_EQ(out.find("eth0") != std::string::npos, network_->bridged()) << out;
}

TEST_F(PodRunnerTest, PodsReachEachOtherByAddress) {
  const auto server =
      pod("python3 -c 'import socket,os\ns=socket.create_server((os.environ[\"IP\"],7001))\n"
          "c,_=s.accept(); c.sendall(b\"hello\"); c.close()'");
  auto with_ip = server;
  with_ip.containers[0].env = {{.name = "IP", .field_path = "status.podIP"}};
  auto first = run(with_ip);
  const auto state = wait_phase(with_ip, "Running");
  const auto client =
      pod("for i in $(seq 50); do python3 -c 'import socket\n"
          "print(socket.create_connection((\"" +
          state.ip +
          "\",7001)).recv(9))' "
          "2>/dev/null && exit 0; sleep 0.1; done; exit 1");
  auto second = run(client);
  wait_phase(client, "Succeeded");
  EXPECT_EQ(output(client), "b'hello'\n");
  wait_phase(with_ip, "Succeeded");
}

TEST_F(PodRunnerTest, MountsClaimsConfigMapsAndScratchSpace) {
  fs::create_directories(directory_ + "/claims/imagenet/train");
  std::ofstream(directory_ + "/claims/imagenet/train/1.jpg") << "pixels";
  objects_.config_map = [](const std::string&) { return Data{{"conf", "lr=1"}}; };
  objects_.secret = [](const std::string&) { return Data{{"key", "hidden"}}; };
  auto spec =
      pod("cat /mnt/data/train/1.jpg /conf/conf /secret/key /info/epoch; "
          "echo x > /mnt/data/y || echo refused; echo z > /scratch/z && cat /scratch/z; "
          "stat -L -c %a /secret/key");
  spec.meta.annotations = {{"epoch", "7"}};
  spec.volumes = {{"d", ClaimVolume{.claim = "imagenet"}},
                  {"c", ObjectVolume{.name = "conf"}},
                  {"k", ObjectVolume{.secret = true, .name = "key"}},
                  {"s", EmptyDirVolume{}},
                  {"i", DownwardVolume{{{"epoch", "metadata.annotations['epoch']"}}}}};
  spec.containers[0].mounts = {{.volume = "d", .path = "/mnt/data", .read_only = true},
                               {.volume = "c", .path = "/conf"},
                               {.volume = "k", .path = "/secret"},
                               {.volume = "s", .path = "/scratch"},
                               {.volume = "i", .path = "/info"}};
  auto runner = run(spec);
  wait_phase(spec, "Succeeded");
  const std::string out = output(spec);
  EXPECT_NE(out.find("pixelslr=1hidden7"), std::string::npos) << out;
  EXPECT_NE(out.find("refused"), std::string::npos) << out;
  EXPECT_NE(out.find("z\n600"), std::string::npos) << out;
  EXPECT_FALSE(fs::exists("/mnt/data"));
}

TEST_F(PodRunnerTest, AVolumeInsideReadOnlySamplesNeedsADirectoryThere) {
  fs::create_directories(directory_ + "/claims/imagenet/logs");
  auto spec = pod("echo line > /mnt/data/logs/log && cat /mnt/data/logs/log");
  spec.volumes = {{"d", ClaimVolume{.claim = "imagenet"}}, {"s", EmptyDirVolume{}}};
  spec.containers[0].mounts = {{.volume = "s", .path = "/mnt/data/logs"},
                               {.volume = "d", .path = "/mnt/data", .read_only = true}};
  auto runner = run(spec);
  wait_phase(spec, "Succeeded");
  EXPECT_EQ(output(spec), "line\n");
  EXPECT_TRUE(fs::is_empty(directory_ + "/claims/imagenet/logs"));

  auto missing = pod("true");
  missing.volumes = spec.volumes;
  missing.containers[0].mounts = spec.containers[0].mounts;
  missing.containers[0].mounts[0].path = "/mnt/data/other/logs";
  auto second = run(missing);
  EXPECT_EQ(
      wait_phase(missing, "Failed").containers.at("main").terminated->message,
      "a volume cannot be mounted at /mnt/data/other/logs: there is no /mnt/data/other in the "
      "read-only volume around it, such as samples; mount it outside");
}

TEST_F(PodRunnerTest, ASubPathNeverLeavesItsVolume) {
  fs::create_directories(directory_ + "/claims/c");
  fs::create_symlink("/etc", directory_ + "/claims/c/out");
  auto spec = pod("true");
  spec.volumes = {{"d", ClaimVolume{.claim = "c"}}};
  spec.containers[0].mounts = {{.volume = "d", .path = "/x", .sub_path = "out"}};
  auto runner = run(spec);
  const auto state = wait_phase(spec, "Failed");
  EXPECT_EQ(state.containers.at("main").terminated->reason, "StartError");
}

TEST_F(PodRunnerTest, WaitsForMissingObjectsAndReportsThem) {
  std::atomic<bool> there{false};
  objects_.config_map = [&](const std::string&) -> std::optional<Data> {
    if (!there) return std::nullopt;
    return Data{{"A", "b"}};
  };
  auto spec = pod("echo $A");
  spec.containers[0].env_from = {{.name = "job"}};
  auto runner = run(spec);
  const auto state =
      wait(spec, [](const PodState& s) { return !s.containers.at("main").message.empty(); });
  EXPECT_EQ(state.containers.at("main").reason, "CreateContainerConfigError");
  EXPECT_EQ(state.containers.at("main").message, "configmap \"job\" not found");
  there = true;
  wait_phase(spec, "Succeeded");
  EXPECT_EQ(output(spec), "b\n");
}

TEST_F(PodRunnerTest, KeepsExitCodesAndRestartsOnFailure) {
  const auto once = pod("exit 7");
  auto failing = run(once);
  EXPECT_EQ(wait_phase(once, "Failed").containers.at("main").terminated->exit_code, 7);

  const auto killed = pod("exec python3 -c 'import ctypes; ctypes.string_at(0)'");
  auto dying = run(killed);
  EXPECT_EQ(wait_phase(killed, "Failed").containers.at("main").terminated->exit_code,
            128 + SIGSEGV);

  auto again = pod("test -e /scratch/seen || { touch /scratch/seen; exit 1; }; echo second",
                   RestartPolicy::kOnFailure);
  again.volumes = {{"s", EmptyDirVolume{}}};
  again.containers[0].mounts = {{.volume = "s", .path = "/scratch"}};
  auto runner = run(again);
  EXPECT_EQ(wait_phase(again, "Succeeded").containers.at("main").restarts, 1);
  EXPECT_EQ(output(again, 1), "second\n");
}

TEST_F(PodRunnerTest, APodThatReadersWaitForRestartsAtOnceAfterEveryKill) {
  auto served = pod("exit 137", RestartPolicy::kAlways);
  served.volumes = {{"s", RuntimeVolume{.session = true, .handle = "h"}}};
  served.containers[0].mounts = {{.volume = "s", .path = "/session"}};
  auto runner = run(served);
  wait(served,
       [](const PodState& s) { return s.containers.at("main").restarts > kImmediateRestarts; });
  runner.reset();
  std::lock_guard lock(mutex_);
  const auto& waits = waits_[served.meta.key.name];
  ASSERT_GT(waits.size(), static_cast<std::size_t>(kImmediateRestarts));
  for (const auto& [restarts, said] : waits) {
    const bool at_once = said.starts_with("back-off 0s");
    const bool late = restarts >= kImmediateRestarts && said.starts_with("back-off 1s");
    EXPECT_TRUE(at_once || late) << restarts << ": " << said;
  }
}

TEST_F(PodRunnerTest, AMissingCommandIsOneSentence) {
  auto spec = pod("");
  spec.containers[0].command = {"/no/such/program"};
  auto runner = run(spec);
  EXPECT_EQ(wait_phase(spec, "Failed").containers.at("main").terminated->message,
            "run /no/such/program: No such file or directory");
}

TEST_F(PodRunnerTest, InitContainersComeFirstAndAnnotationsReachThem) {
  auto spec = pod("echo main");
  spec.init = {{.name = "coord-paddle",
                .command = {"/bin/sh", "-c", "until grep -q go /info/release; do sleep 0.02; done"},
                .mounts = {{.volume = "i", .path = "/info"}}}};
  spec.volumes = {{"i", DownwardVolume{{{"release", "metadata.annotations['release']"}}}}};
  auto runner = run(spec);
  wait(spec, [](const PodState& s) {
    return s.init.at("coord-paddle").phase == ContainerState::Phase::kRunning;
  });
  spec.meta.annotations["release"] = "go";
  runner->update(spec);
  wait_phase(spec, "Succeeded");
  EXPECT_EQ(output(spec), "main\n");
}

TEST_F(PodRunnerTest, StopsWithinItsGraceAndLeavesNoProcess) {
  const auto polite = pod("trap 'exit 0' TERM; echo up; while true; do sleep 0.05; done");
  auto runner = run(polite);
  wait_phase(polite, "Running");
  while (output(polite) != "up\n") system_clock().sleep(10ms, {});  // its trap is set
  runner->stop(20s);
  while (!runner->ended()) system_clock().sleep(10ms, {});
  EXPECT_EQ(wait_phase(polite, "Succeeded").containers.at("main").terminated->exit_code, 0);

  const auto stubborn = pod("trap '' TERM; setsid sleep 98765 & while true; do sleep 1; done");
  auto second = run(stubborn);
  wait_phase(stubborn, "Running");
  second.reset();
  const std::string sleeper = std::string("sleep") + '\0' + "98765" + '\0';
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string line = read_file(entry.path().string() + "/cmdline");
    EXPECT_NE(line, sleeper) << "left behind: " << entry.path();
  }
}

}  // namespace
}  // namespace paddle::local
