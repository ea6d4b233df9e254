// SPDX-License-Identifier: Apache-2.0
//
// Runs pods with a PodRunner and waits for what it reports. The test program is its own
// `container-init` (machine_main.h).

#pragma once

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "local/node/pod_runner.h"
#include "test/support/scratch_dir.h"

namespace paddle::local {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

inline std::string read_file(const std::string& path) {
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
        .hidden = hidden_,
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
  std::vector<std::string> hidden_{};
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

}  // namespace paddle::local
