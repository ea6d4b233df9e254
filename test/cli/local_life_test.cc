// SPDX-License-Identifier: Apache-2.0
//
// The background process of `paddlectl local`: one per directory, ended gracefully or killed.
// Afterwards its objects remain, and nothing else.

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test/cli/cli_fixture.h"
#include "test/support/eventually.h"

namespace paddle::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class LocalLife : public CliTest {
 protected:
  // A job that runs until it is ended; its processes have a unique command line.
  std::string lasting_job(const std::string& name, const std::string& more) const {
    return "{apiVersion: batch.paddlepaddle.org/v1, kind: PaddleJob, metadata: {name: " + name +
           "}, spec: {" + more +
           "template: {spec: {terminationGracePeriodSeconds: 0, volumes: [{name: word, hostPath: "
           "{path: " +
           word_ +
           "}}], containers: [{name: main, image: x, volumeMounts: [{name: word, "
           "mountPath: /word}], command: [sh, -c, \"while [ ! -e /word/end ]; do sleep 0.05; "
           "done; : " +
           marker_ + name + ".\"]}]}}}}}\n";
  }
  void start_lasting_jobs() {
    fs::create_directories(word_);
    std::string all;
    for (const auto& [name, more] : jobs_) all += "---\n" + lasting_job(name, more);
    must({"apply", "-f", "-"}, all);
    for (const auto& job : jobs_) expect_running(job.first);
  }
  void expect_running(const std::string& name) const {
    must({"wait", "pdj/" + name, "--for=phase=Running", "--timeout=60s"});
    EXPECT_TRUE(eventually([&] { return processes_with(marker_ + name + ".").size() == 2; }))
        << name;
  }
  // All of them run again, and the interruption does not count as a failure.
  void expect_all_survived() const {
    for (const auto& job : jobs_) {
      const std::string& name = job.first;
      EXPECT_TRUE(eventually([&] { return processes_with(marker_ + name + ".").size() == 2; }))
          << name << ": " << must({"get", "pdj", name, "-o", "yaml"});
      expect_running(name);
      const auto status = job_status(name);
      EXPECT_EQ(status.value("failures", 0), 0) << status;
      EXPECT_EQ(status.value("disruptions", 0), 0) << status;
      EXPECT_THAT(status.dump(), Not(HasSubstr("/bin/sh")));
    }
  }
  void expect_all_complete() const {
    std::ofstream(word_ + "/end") << "now";
    for (const auto& job : jobs_) {
      must({"wait", "pdj/" + job.first, "--for=phase=Completed", "--timeout=60s"});
    }
  }
  nlohmann::json job_status(const std::string& name) const {
    return nlohmann::json::parse(must({"get", "pdj", name, "-o", "json"}))["status"];
  }
  bool all_gone() const {
    return eventually([&] { return processes_with(marker_).empty(); }) &&
           eventually([&] { return processes_with(directory_).empty(); });
  }

  const std::string marker_ = "lasts-" + std::to_string(getpid()) + "-";
  const std::string word_ = scratch_.path() + "/word";
  // Two pods each. The first has the default `restartPolicy`: Never.
  const std::vector<std::pair<std::string, std::string>> jobs_{
      {"collective", "worker: {replicas: 2, "},
      {"onfailure", "worker: {replicas: 2, restartPolicy: OnFailure, "},
      {"service", "intranet: Service, worker: {replicas: 2, "}};
};

TEST_F(LocalLife, UpAndDownAreIdempotent) {
  ASSERT_EQ(up(directory_).exit_code, 0);
  const auto first = status(directory_);
  const Ran again = up(directory_);
  EXPECT_EQ(again.exit_code, 0) << again.out;
  EXPECT_THAT(again.out, HasSubstr("already"));
  EXPECT_EQ(status(directory_)["pid"], first["pid"]);
  EXPECT_THAT(must({"down"}), HasSubstr("has ended"));
  EXPECT_THAT(must({"down"}), HasSubstr("No local cluster is running"));
  EXPECT_TRUE(all_gone());
  EXPECT_FALSE(has_address(first["nodes"][0]["address"]));
  EXPECT_THAT(mounts_beneath(directory_), IsEmpty());
  must({"down", "--delete"});
  EXPECT_FALSE(fs::exists(directory_));
}

TEST_F(LocalLife, TheDemoShowsTheTutorialAndGoesWithTheCluster) {
  ASSERT_EQ(up(directory_).exit_code, 0);
  const std::string said = must({"up", "--demo"});
  for (const char* each : {"[1/6] SampleSet", "[2/6] SampleJob rmr", "[3/6] SampleJob sync",
                           "[4/6] SampleJob clear", "[5/6] SampleJob warmup", "[6/6] PaddleJob",
                           "7.5 MiB", "[demo-worker-0] 120\n", "[demo-worker-1] 7864320\n"}) {
    EXPECT_THAT(said, HasSubstr(each));
  }
  EXPECT_THAT(must({"up", "--demo"}), HasSubstr("The demo has run"));
  must({"down", "--delete"});
  EXPECT_FALSE(fs::exists(directory_ + "-demo"));
}

TEST_F(LocalLife, TheApiServerKeepsItsPortUnlessAnotherProgramHasIt) {
  ASSERT_EQ(up(directory_).exit_code, 0);
  const std::string first = status(directory_)["url"];
  must({"down"});
  ASSERT_EQ(up(directory_).exit_code, 0);
  EXPECT_EQ(status(directory_)["url"], first);
  ASSERT_EQ(::kill(status(directory_)["pid"].get<pid_t>(), SIGKILL), 0);
  ASSERT_TRUE(eventually([&] { return processes_with(directory_).empty(); }));
  ASSERT_EQ(up(directory_).exit_code, 0);
  EXPECT_EQ(status(directory_)["url"], first);
  must({"down"});

  const std::string port = first.substr(first.rfind(':') + 1);
  const int taken = ::socket(AF_INET, SOCK_STREAM, 0);
  const int reuse = 1;
  ASSERT_EQ(::setsockopt(taken, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse), 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
  ASSERT_EQ(::bind(taken, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(taken, 1), 0);
  const Ran moved = up(directory_);
  EXPECT_EQ(moved.exit_code, 0) << moved.out;
  EXPECT_THAT(moved.out, HasSubstr("its last port, " + port + ", is in use"));
  EXPECT_NE(status(directory_)["url"], first);
  ::close(taken);
}

TEST_F(LocalLife, TwoConcurrentUpsStartOneCluster) {
  std::vector<std::jthread> both;
  std::vector<Ran> ended(2);
  started_.push_back(directory_);
  for (Ran& each : ended) {
    both.emplace_back([&] { each = up_once(directory_); });
  }
  both.clear();
  for (const Ran& each : ended) EXPECT_EQ(each.exit_code, 0) << each.out;
  EXPECT_EQ(processes_with(directory_).size(), 1u);
  EXPECT_EQ(status(directory_)["running"], true);
}

TEST_F(LocalLife, DownRemovesLeftoversOfAKilledCluster) {
  ASSERT_EQ(up(directory_).exit_code, 0);
  const auto before = status(directory_);
  ASSERT_EQ(::kill(before["pid"].get<pid_t>(), SIGKILL), 0);
  ASSERT_TRUE(eventually([&] { return processes_with(directory_).empty(); }));
  must({"down", "--delete"});
  EXPECT_FALSE(has_address(before["nodes"][0]["address"]));
  EXPECT_FALSE(fs::exists(directory_));
}

TEST_F(LocalLife, TwoDirectoriesAreTwoClusters) {
  const std::string other = scratch_.path() + "/two";
  ASSERT_EQ(up(directory_).exit_code, 0);
  ASSERT_EQ(up(other).exit_code, 0);
  must({"apply", "-f", "-"}, "{apiVersion: v1, kind: ConfigMap, metadata: {name: mine}}");
  EXPECT_EQ(ctl_in(other, {"get", "cm", "mine"}).exit_code, 1);
  must({"get", "cm", "mine"});
  EXPECT_NE(status(directory_)["nodes"][0]["address"], status(other)["nodes"][0]["address"]);
  must({"down"});
  EXPECT_EQ(ctl_in(other, {"get", "nodes"}).exit_code, 0);
}

TEST_F(LocalLife, DownEndsPodsAndUpStartsThemAgain) {
  ASSERT_EQ(up(directory_).exit_code, 0);
  start_lasting_jobs();
  for (int round = 0; round < 5; ++round) {  // more often than a disruptionLimit in a cluster
    must({"down"});
    EXPECT_TRUE(all_gone());
    ASSERT_EQ(up(directory_).exit_code, 0);
    expect_all_survived();
  }
  expect_all_complete();
}

TEST_F(LocalLife, AKilledClusterLeavesItsObjectsAndNothingElse) {
  ASSERT_EQ(up(directory_).exit_code, 0);
  start_lasting_jobs();
  const auto before = status(directory_);
  ASSERT_EQ(::kill(before["pid"].get<pid_t>(), SIGKILL), 0);
  EXPECT_TRUE(all_gone());
  EXPECT_THAT(mounts_beneath(directory_), IsEmpty());
  EXPECT_THAT(ctl({"get", "pods"}).err, HasSubstr("start it with 'paddlectl local up'"));

  ASSERT_EQ(up(directory_).exit_code, 0);
  expect_all_survived();
  expect_all_complete();
  must({"down"});
  EXPECT_TRUE(all_gone());
  EXPECT_FALSE(has_address(before["nodes"][0]["address"]));
}

TEST_F(LocalLife, ATerminatedUpHasStartedTheClusterOrLeavesNothing) {
  for (int round = 0; round < 4; ++round) {
    const std::string directory = scratch_.path() + "/round" + std::to_string(round);
    const std::string log = directory + ".log";
    const auto child =
        scratch_.keeper().spawn({.argv = {PADDLE_CTL, "local", "up", "--directory", directory},
                                 .env = clean_environment(scratch_.path()),
                                 .log = log});
    ASSERT_TRUE(child) << child.error().message;
    const char* const moments[] = {"Starting", "API server", "controllers", "Starting"};
    ASSERT_TRUE(
        eventually([&] { return read_file(log).find(moments[round]) != std::string::npos; }));
    (void)scratch_.keeper().signal(*child, SIGTERM);
    std::optional<Exit> exit;
    ASSERT_TRUE(eventually([&] {
      const auto now = scratch_.keeper().status(*child);
      if (now) exit = *now;
      return exit.has_value();
    }));
    if (exit->code == 0 && exit->signal == 0) {  // it ended before the signal
      EXPECT_EQ(status(directory)["running"], true);
      EXPECT_EQ(ctl_in(directory, {"down", "--delete"}).exit_code, 0);
    }
    EXPECT_TRUE(eventually([&] { return processes_with(directory).empty(); }));
    EXPECT_FALSE(fs::exists(directory)) << read_file(log);
  }
}

TEST_F(LocalLife, AFailedStartIsReportedInOneSentenceAndLeavesNothing) {
  const int taken = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(taken, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(taken, 1), 0);
  socklen_t size = sizeof address;
  ASSERT_EQ(::getsockname(taken, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  const Ran busy = ctl({"up", "--port", port});
  EXPECT_EQ(busy.exit_code, 1);
  EXPECT_THAT(busy.err, HasSubstr("on port " + port));
  EXPECT_THAT(busy.err, HasSubstr("--port"));
  EXPECT_FALSE(fs::exists(directory_));
  ::close(taken);

  const Ran nowhere = ctl_in("/proc/paddle", {"up"});
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("--directory"));

  EXPECT_EQ(ctl({"get", "pods"}).exit_code, 1);
  EXPECT_EQ(ctl({"nonsense"}).exit_code, 2);
  const auto idle = status(directory_);
  EXPECT_EQ(idle["running"], false);
}

TEST_F(LocalLife, UpWithoutRootFailsWithOneSentence) {
  const Ran ran = run({.argv = {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534",
                                "--clear-groups", PADDLE_CTL, "local", "up"},
                       .env = clean_environment("/")});
  EXPECT_EQ(ran.exit_code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("sudo paddlectl local up"));
}

}  // namespace
}  // namespace paddle::test
