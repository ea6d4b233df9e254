// SPDX-License-Identifier: Apache-2.0
#include "test/support/control_plane.h"

#include <array>
#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include "test/support/eventually.h"
#include "test/support/http.h"
#include "test/support/keeper.h"

namespace paddle::test {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<ControlPlane> started(ControlPlaneOptions options = {}) {
  auto plane = ControlPlane::start(std::move(options));
  EXPECT_TRUE(plane) << plane.error().message;
  return plane ? *std::move(plane) : nullptr;
}

Result<HttpAnswer> ask_as(const ControlPlane& plane, const std::string& token,
                          const std::string& path) {
  return call({.url = plane.url() + path, .ca_path = plane.ca_path(), .token = token});
}

TEST(ControlPlane, ServesVerifiedTlsToThreeUsersUnderRbac) {
  const auto plane = started();
  ASSERT_TRUE(plane);
  const std::string secrets = "/api/v1/namespaces/default/secrets";
  EXPECT_EQ(ask_as(*plane, plane->token(), secrets)->status, 200);
  EXPECT_EQ(ask_as(*plane, plane->token_of("alice"), secrets)->status, 403);
  EXPECT_EQ(ask_as(*plane, plane->token_of("bob"), secrets)->status, 403);
  EXPECT_EQ(ask_as(*plane, "guest", secrets)->status, 401);
  // Without our authority the connection itself is refused.
  EXPECT_FALSE(call({.url = plane->url() + "/version", .token = plane->token()}));

  const auto granted = plane->kubectl({"create", "rolebinding", "a", "--clusterrole=cluster-admin",
                                       "--user=alice", "--namespace=default"});
  EXPECT_EQ(granted.exit_code, 0) << granted.err;
  // The authorizer learns of it by watch, a moment later.
  EXPECT_TRUE(
      eventually([&] { return ask_as(*plane, plane->token_of("alice"), secrets)->status == 200; }));
}

TEST(ControlPlane, KeepsItsObjectsAndItsAddressOverARestart) {
  const auto plane = started();
  ASSERT_TRUE(plane);
  const std::string address = plane->url();
  const auto created = plane->kubectl({"create", "-f", "-"}, R"({
    "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept"}})");
  ASSERT_EQ(created.exit_code, 0) << created.err;
  ASSERT_TRUE(plane->stop_api_server());
  EXPECT_FALSE(ask_as(*plane, plane->token(), "/version")) << "it still answers";
  const auto again = plane->start_api_server();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(plane->url(), address);
  EXPECT_EQ(plane->kubectl({"get", "configmap", "kept", "-o", "name"}).out, "configmap/kept\n");
}

TEST(ControlPlane, CompactionMakesOldVersionsExpireOnceTheServerHasForgottenThem) {
  const auto plane = started();
  ASSERT_TRUE(plane);
  const auto first =
      plane->kubectl({"create", "configmap", "a", "-o", "jsonpath={.metadata.resourceVersion}"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  ASSERT_EQ(plane->kubectl({"create", "configmap", "b"}).exit_code, 0);
  ASSERT_TRUE(plane->stop_api_server());
  ASSERT_TRUE(plane->compact_etcd());
  ASSERT_TRUE(plane->compact_etcd()) << "compacting twice is not an error";
  ASSERT_TRUE(plane->start_api_server());
  const auto list = ask_as(*plane, plane->token(),
                           "/api/v1/namespaces/default/configmaps?resourceVersionMatch=Exact"
                           "&resourceVersion=" +
                               first.out);
  ASSERT_TRUE(list);
  EXPECT_EQ(list->status, 410) << list->body;
}

TEST(ControlPlane, WritesOneAuditLinePerRequestWithTheUser) {
  const auto plane = started({.audit = true});
  ASSERT_TRUE(plane);
  ASSERT_EQ(plane->kubectl({"create", "configmap", "audited"}).exit_code, 0);
  std::istringstream lines(read_file(plane->audit_log()));
  int creations = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(line.starts_with('{') && line.ends_with('}')) << line;
    const auto has = [&](const char* text) { return line.find(text) != std::string::npos; };
    if (has("\"verb\":\"create\"") && has("\"name\":\"audited\"")) {
      ++creations;
      EXPECT_TRUE(has("\"username\":\"admin\"")) << line;
    }
  }
  EXPECT_EQ(creations, 1);
}

TEST(ControlPlane, AServerThatCannotStartReportsItsOwnError) {
  const auto plane = ControlPlane::start({.api_server_flags = {"--no-such-flag"}});
  ASSERT_FALSE(plane);
  const std::string& message = plane.error().message;
  EXPECT_NE(message.find("unknown flag: --no-such-flag"), std::string::npos) << message;
  const size_t at = message.find("its log is ");
  ASSERT_NE(at, std::string::npos) << message;
  const std::string log = message.substr(at + 11, message.find(',', at) - at - 11);
  EXPECT_TRUE(fs::exists(log)) << log;
  fs::remove_all(fs::path(log).parent_path());
}

// The pids and the data directory of a plane's children, found from outside.
std::string remains_of(const ControlPlane& plane) {
  const std::string keeper = std::to_string(plane.keeper().pid());
  std::string text = plane.directory() + "\n" + keeper + "\n";
  std::istringstream pids(read_file("/proc/" + keeper + "/task/" + keeper + "/children"));
  for (std::string pid; pids >> pid;) {
    text += pid + "\n";
    std::istringstream words(read_file("/proc/" + pid + "/cmdline"));
    for (std::string word; std::getline(words, word, '\0');) {
      if (word.starts_with("--data-dir=")) text += word.substr(11) + "\n";
    }
  }
  return text;
}

TEST(ControlPlane, ATestKilledInTheMiddleLeavesNoProcessAndNoDirectory) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t test = ::fork();
  if (test == 0) {
    const auto plane = ControlPlane::start();
    const std::string report = plane ? remains_of(**plane) : "";
    if (::write(ends[1], report.data(), report.size()) < 0) ::_exit(1);
    ::kill(::getpid(), SIGKILL);
  }
  ::close(ends[1]);
  std::array<char, 4096> report{};
  const ssize_t got = ::read(ends[0], report.data(), report.size());
  ::close(ends[0]);
  ASSERT_EQ(::waitpid(test, nullptr, 0), test);
  ASSERT_GT(got, 0) << "it did not start";

  std::istringstream remains(std::string(report.data(), static_cast<size_t>(got)));
  int directories = 0;
  int processes = 0;
  for (std::string each; std::getline(remains, each);) {
    if (each.starts_with('/')) {
      ++directories;
      EXPECT_TRUE(eventually([&] { return !fs::exists(each); })) << each << " is left";
    } else {
      ++processes;
      const auto pid = static_cast<pid_t>(std::stol(each));
      EXPECT_TRUE(eventually([&] { return !alive(pid); })) << each;
    }
  }
  EXPECT_EQ(directories, 2);  // logs, data
  EXPECT_EQ(processes, 3);    // keeper, etcd, API server
}

}  // namespace
}  // namespace paddle::test
