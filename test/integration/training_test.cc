// SPDX-License-Identifier: Apache-2.0
// The environment of training containers, tried on real PaddlePaddle: the programs of examples/ as
// plain processes, each at a loopback address of its own, with what is in the pod's manifest and in
// the ConfigMap, and nothing else.
#include <csignal>
#include <map>
#include <optional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "api/json/look.h"
#include "controllers/paddle_job/objects/peer_config_map.h"
#include "controllers/paddle_job/objects/pod.h"
#include "controllers/paddle_job/spec/replica_group.h"
#include "test/support/components.h"
#include "test/support/eventually.h"
#include "test/support/keeper.h"
#include "test/support/ports.h"

namespace paddle {
namespace {

using api::Json;
namespace paddle_job = controllers::paddle_job;
using paddle_job::RoleKind;
using std::chrono::seconds;

constexpr seconds kLong{240};  // a guard, not an expectation

class Training : public testing::Test {
 protected:
  void SetUp() override {
    auto packages = test::component("paddlepaddle");
    ASSERT_TRUE(packages) << packages.error().message;
    packages_ = *packages;
    auto keeper = test::Keeper::start();
    ASSERT_TRUE(keeper) << keeper.error().message;
    keeper_ = *std::move(keeper);
  }
  void TearDown() override {
    if (HasFailure() && keeper_) {
      for (const auto& [name, pid] : running_) {
        std::cerr << "---- " << name << "\n" << test::tail(log(name), 30) << "\n";
      }
    }
  }

  static api::PaddleJob job_of(int servers, int workers, std::vector<std::string> command) {
    api::PaddleJob job;
    job.meta.key = {"t", "train"};
    job.spec.intranet = "Host";  // all share this machine's ports, and others' tests run here too
    // Below the ports that the kernel gives to outgoing connections: one of those, even closed a
    // minute ago, keeps Paddle's gloo store from listening, and then all wait for it for ever.
    job.status.port = 20000 + 20 * (::getpid() % 500);
    const Json pod = {{"spec",
                       {{"containers", Json::array({Json{{"name", "paddle"},
                                                         {"command", std::move(command)}}})}}}};
    job.spec.worker = api::Role{.replicas = workers, .pod_template = api::Opaque(pod)};
    if (servers > 0) {
      job.spec.ps = api::Role{.replicas = servers, .pod_template = api::Opaque(pod)};
    }
    return job;
  }

  static std::string address(RoleKind kind, int index) {
    return "127.0.0." + std::to_string((kind == RoleKind::kPs ? 10 : 20) + index);
  }

  // The environment that the kubelet makes from the manifest and the ConfigMap.
  std::vector<std::string> environment(const api::PaddleJob& job, const Json& container,
                                       const std::string& own) const {
    std::map<std::string, std::string> all{{"PATH", "/usr/bin:/bin"},
                                           {"HOME", keeper_->directory()},
                                           {"PYTHONPATH", packages_},
                                           {"PYTHONUNBUFFERED", "1"},
                                           {"OMP_NUM_THREADS", "1"}};
    if (container.contains("envFrom")) {
      paddle_job::Addresses addresses;
      for (const auto& group : paddle_job::replica_groups(job.spec)) {
        for (int i = 0; i < group.replicas; ++i) {
          addresses[group.name].push_back(address(group.kind, i));
        }
      }
      for (const auto& [name, value] : paddle_job::peer_data(job, addresses)) {
        all[name] = value;
      }
    }
    for (const Json& one : container["env"]) {
      all[one.value("name", "")] = one.contains("valueFrom") ? own : one.value("value", "");
    }
    for (const auto& [name, value] : extra_) all[name] = value;
    std::vector<std::string> out;
    for (const auto& [name, value] : all) out.push_back(name + "=" + value);
    return out;
  }

  std::string log(const std::string& name) const { return keeper_->directory() + "/" + name; }

  void start(const api::PaddleJob& job, RoleKind kind, int index) {
    for (const auto& group : paddle_job::replica_groups(job.spec)) {
      if (group.kind != kind) continue;
      const Json pod = paddle_job::pod_for(job, group, index, {}, config_);
      const Json& container = pod["spec"]["containers"][0];
      const std::string name = pod["metadata"]["name"];
      auto argv = container["command"].get<std::vector<std::string>>();
      const auto made =
          test::run({.argv = {"/bin/mkdir", "-p", keeper_->directory() + "/at-" + name},
                     .env = test::clean_environment("/")});
      ASSERT_EQ(made.exit_code, 0) << made.err;
      const auto pid = keeper_->spawn({.argv = std::move(argv),
                                       .env = environment(job, container, address(kind, index)),
                                       .directory = keeper_->directory() + "/at-" + name,
                                       .log = log(name)});
      ASSERT_TRUE(pid) << pid.error().message;
      running_[name] = *pid;
    }
  }

  std::optional<test::Exit> ended(const std::string& name) {
    const auto status = keeper_->status(running_.at(name));
    return status ? *status : std::nullopt;
  }

  // Waits for its end; the exit code, or -1.
  int exit_code(const std::string& name) {
    const bool over = test::eventually([&] { return ended(name).has_value(); }, kLong,
                                       std::chrono::milliseconds{100});
    return over && ended(name)->signal == 0 ? ended(name)->code : -1;
  }

  // The lines `RESULT {...}` of a program.
  std::vector<Json> results(const std::string& name) const {
    std::vector<Json> found;
    std::istringstream lines(test::read_file(log(name)));
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("RESULT ")) continue;
      const Json one = Json::parse(line.substr(7), nullptr, false);
      if (one.is_object()) found.push_back(one);
    }
    return found;
  }
  // The last result of this event; null when there is none yet.
  Json last(const std::string& name, const std::string& event) const {
    Json found;
    for (const Json& one : results(name)) {
      if (one.value("event", "") == event) found = one;
    }
    return found;
  }
  // True when this many train. Meanwhile the others are restarted on failure, as a kubelet does:
  // Paddle's launcher counts on it when its peers break away.
  bool comes_to(const api::PaddleJob& job, const std::string& name, int ranks) {
    const auto there = [&] {
      for (int i = 0; i < job.spec.worker->replicas; ++i) {
        const auto seen = ended(paddle_job::pod_name(job, RoleKind::kWorker, i));
        if (seen && *seen != test::Exit{} && i != stopped_) start(job, RoleKind::kWorker, i);
      }
      return api::look_integer(last(name, "step"), "ranks") == ranks;
    };
    return test::eventually(there, kLong, std::chrono::milliseconds{100});
  }

  static std::vector<std::string> launched(const std::string& program,
                                           const std::vector<std::string>& rest = {}) {
    std::vector<std::string> out{"/usr/bin/python3", "-m", "paddle.distributed.launch",
                                 std::string(PADDLE_SOURCE_DIR) + "/examples/" + program};
    out.insert(out.end(), rest.begin(), rest.end());
    return out;
  }

  std::unique_ptr<test::Keeper> keeper_;
  std::string packages_;
  paddle_job::Config config_;
  std::map<std::string, std::string> extra_;
  std::map<std::string, pid_t> running_;
  int stopped_ = -1;  // the worker that is not to be started again
};

TEST_F(Training, CollectiveWorkersFindEachOtherAndEndWithTheSameWeights) {
  const auto job = job_of(0, 2, launched("collective/train.py"));
  for (int i = 0; i < 2; ++i) start(job, RoleKind::kWorker, i);
  for (const char* name : {"train-worker-0", "train-worker-1"}) {
    ASSERT_EQ(exit_code(name), 0) << name;
    const auto steps = results(name);
    ASSERT_GT(steps.size(), 3u);
    EXPECT_LT(last(name, "step").value("loss", 9.0), steps[1].value("loss", 0.0)) << "loss falls";
    EXPECT_EQ(last(name, "done").value("ranks", 0), 2);
  }
  EXPECT_EQ(last("train-worker-0", "done")["weights"], last("train-worker-1", "done")["weights"]);
}

TEST_F(Training, TrainersOfParameterServersLearnAndTheServersStay) {
  auto job = job_of(
      2, 2,
      {"/usr/bin/python3", std::string(PADDLE_SOURCE_DIR) + "/examples/wide_and_deep/train.py"});
  job.spec.with_gloo = 1;
  for (const RoleKind kind : {RoleKind::kPs, RoleKind::kWorker}) {
    for (int i = 0; i < 2; ++i) start(job, kind, i);
  }
  for (const char* name : {"train-worker-0", "train-worker-1"}) {
    ASSERT_EQ(exit_code(name), 0) << name;
    const Json done = last(name, "done");
    EXPECT_EQ(done.value("servers", 0), 2);
    EXPECT_LT(done.value("last", 9.0), done.value("first", 0.0));
  }
  EXPECT_FALSE(ended("train-ps-0")) << "it is for the operator to stop them";
  EXPECT_FALSE(ended("train-ps-1"));
}

TEST_F(Training, AnElasticJobGrowsAndShrinksWhileItTrains) {
  const auto etcd = test::component("etcd");
  ASSERT_TRUE(etcd) << etcd.error().message;
  auto client = test::ReservedPort::any();
  auto peer = test::ReservedPort::any();
  ASSERT_TRUE(client && peer);
  const std::string url = "http://127.0.0.1:" + std::to_string(client->number());
  const std::string peer_url = "http://127.0.0.1:" + std::to_string(peer->number());
  ASSERT_TRUE(keeper_->spawn(
      {.argv = {*etcd, "--data-dir=" + keeper_->directory() + "/data",
                "--listen-client-urls=" + url, "--advertise-client-urls=" + url,
                "--listen-peer-urls=" + peer_url, "--initial-advertise-peer-urls=" + peer_url,
                "--initial-cluster=default=" + peer_url},
       .env = test::clean_environment(keeper_->directory()),
       .directory = keeper_->directory(),
       .log = log("etcd")}));
  config_.etcd = {url};
  extra_ = {{"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python"},  // etcd3 with protobuf 4
            {"PADDLE_ELASTIC_TIMEOUT", "12"}};                     // a minute is long for a test
  auto job = job_of(
      0, 2,
      launched("collective/train.py", {"--steps=100000", "--pause=0.1", "--every=5",
                                       "--checkpoint=" + keeper_->directory() + "/checkpoint"}));
  job.spec.elastic = 1;
  job.spec.worker->limits = 3;
  for (int i = 0; i < 2; ++i) start(job, RoleKind::kWorker, i);
  ASSERT_TRUE(comes_to(job, "train-worker-0", 2));

  job.spec.worker->replicas = 3;
  start(job, RoleKind::kWorker, 2);
  ASSERT_TRUE(comes_to(job, "train-worker-2", 3));
  ASSERT_TRUE(comes_to(job, "train-worker-0", 3));
  EXPECT_GT(last("train-worker-2", "started").value("step", 0), 0) << "goes on from a checkpoint";

  stopped_ = 1;  // one in the middle
  ASSERT_TRUE(keeper_->signal(running_.at("train-worker-1"), SIGTERM));
  ASSERT_TRUE(comes_to(job, "train-worker-0", 2));
  ASSERT_TRUE(comes_to(job, "train-worker-2", 2));
  EXPECT_GT(last("train-worker-0", "started").value("step", 0), 0);
}

}  // namespace
}  // namespace paddle
