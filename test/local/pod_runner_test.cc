// SPDX-License-Identifier: Apache-2.0
//
// Pods as real processes: namespaces, private files, volumes, exit codes, restarts, clean ends.
// This program is its own `container-init`, like paddlectl.

#include "local/node/pod_runner.h"

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "local/node/container_init.h"
#include "local/node/restart_backoff.h"
#include "test/support/scratch_dir.h"

namespace paddle::local {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class PodRunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "namespaces need root";
    directory_ = scratch_.path();
    network_ = Network::bridge_or_loopback("pod-runner-test-" + std::to_string(getpid()));
  }

  PodSpec pod(const std::string& script, RestartPolicy policy = RestartPolicy::kNever) {
    static int number = 0;
    PodSpec spec;
    spec.meta.key = {"t", "pod-" + std::to_string(++number)};
    spec.meta.uid = "uid-" + std::to_string(number);
    spec.restart = policy;
    spec.containers = {{.name = "main", .command = {"/bin/sh", "-c", script}}};
    return spec;
  }

  std::unique_ptr<PodRunner> run(const PodSpec& spec) {
    PodRunnerContext context{
        .program = "/proc/self/exe",
        .directory = directory_,
        .network = network_.get(),
        .clock = &system_clock(),
        .objects = [this](const std::string&) { return objects_; },
        .volumes = {.claim = [this](const api::ObjectKey& claim) -> Result<std::string> {
                      const std::string path = directory_ + "/claims/" + claim.name;
                      if (!fs::exists(path)) return Error{Code::kNotFound, "no such claim"};
                      return path;
                    },
                    .runtime = [this](const RuntimeVolume&) -> Result<std::string> {
                      fs::create_directories(directory_ + "/session");
                      return directory_ + "/session";
                    }},
        .base_env = {{"PATH", "/usr/bin:/bin"}},
        .report =
            [this](const PodSpec& p, const PodState& s) {
              std::lock_guard lock(mutex_);
              phases_[p.meta.key.name] = phase_of(p, s);
              states_[p.meta.key.name] = s;
              const ContainerState& main = s.containers.at("main");
              if (main.reason == "CrashLoopBackOff" && !main.message.empty()) {
                waits_[p.meta.key.name][main.restarts] = main.message;
              }
              changed_.notify_all();
            }};
    return std::make_unique<PodRunner>(spec, std::move(context));
  }

  // Waits until `holds` returns true; returns the last state in any case.
  template <typename Holds>
  PodState wait(const PodSpec& spec, Holds holds) {
    std::unique_lock lock(mutex_);
    const auto& name = spec.meta.key.name;
    changed_.wait_for(lock, 30s, [&] { return states_.contains(name) && holds(states_[name]); });
    return states_[name];
  }
  PodState wait_phase(const PodSpec& spec, const std::string& phase) {
    auto state = wait(spec, [&](const PodState&) { return phases_[spec.meta.key.name] == phase; });
    EXPECT_EQ(phase_of(spec, state), phase)
        << read_file(log_path(directory_, spec.meta.uid, "main", 0));
    return state;
  }
  std::string output(const PodSpec& spec, int restarts = 0) {
    return read_file(log_path(directory_, spec.meta.uid, "main", restarts));
  }

  test::ScratchDir scratch_{};
  std::string directory_;
  std::unique_ptr<Network> network_;
  ObjectData objects_{.config_map = [](const std::string&) { return std::nullopt; },
                      .secret = [](const std::string&) { return std::nullopt; }};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::string> phases_;
  std::map<std::string, PodState> states_;
  // The message of the back-off before each restart, by restart count.
  std::map<std::string, std::map<int, std::string>> waits_;
};

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

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == paddle::local::kContainerInitCommand) return paddle::local::container_init();
  if (command == paddle::local::kPodPauseCommand) return paddle::local::pod_pause();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
