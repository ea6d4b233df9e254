// SPDX-License-Identifier: Apache-2.0
// Authentication with the real API server, in both directions.

#include <filesystem>
#include <fstream>

#include <sys/stat.h>

#include "base/base64.h"
#include "kube/client/load_config.h"
#include "test/integration/client_fixture.h"

namespace paddle::test {
namespace {

using namespace kube;
using resources::kConfigMaps;

using ClientTrust = ClientTest;

TEST_F(ClientTrust, TheKubeconfigThatKubectlUsesWorks) {
  const auto config = load_config({.path = plane_->kubeconfig()}, {});
  ASSERT_TRUE(config) << why(config);
  Client api(*config);
  const auto made = api.create(kConfigMaps, config_map("a"));
  EXPECT_TRUE(made) << why(made);
  EXPECT_TRUE(api.get_raw("/version"));
}

TEST_F(ClientTrust, AnUnknownCertificateAuthorityIsRefused) {
  const auto stranger = Authority::create("a stranger");
  ASSERT_TRUE(stranger) << why(stranger);
  auto wrong = config();
  wrong.tls = {.ca_pem = stranger->certificate()};
  const auto read = Client(wrong).get(kConfigMaps, {ns_, "a"});
  ASSERT_TRUE(read.is(Code::kUntrusted)) << why(read);
  EXPECT_NE(read.error().message.find("the server's certificate is not trusted"),
            std::string::npos);
  EXPECT_EQ(read.error().message.find(plane_->token()), std::string::npos);

  wrong.tls = {.ca_file = plane_->ca_path(), .server_name = "elsewhere.example"};
  EXPECT_TRUE(Client(wrong).get(kConfigMaps, {ns_, "a"}).is(Code::kUntrusted));
  wrong.tls = {};
  EXPECT_TRUE(Client(wrong).get(kConfigMaps, {ns_, "a"}).is(Code::kUntrusted));
  wrong.tls = {.insecure = true};
  EXPECT_TRUE(Client(wrong).get(kConfigMaps, {ns_, "a"}).is(Code::kNotFound));
}

TEST_F(ClientTrust, AWrongTokenIsUnauthorizedAndNoRightsAreForbidden) {
  auto wrong = config();
  wrong.token = "not-a-token-at-all";
  const auto read = Client(wrong).get(kConfigMaps, {ns_, "a"});
  ASSERT_TRUE(read.is(Code::kUnauthorized)) << why(read);
  EXPECT_EQ(read.error().message, "get configmaps " + ns_ + "/a: Unauthorized");

  wrong.token = plane_->token_of("alice");
  const auto forbidden = Client(wrong).get(kConfigMaps, {ns_, "a"});
  EXPECT_TRUE(forbidden.is(Code::kForbidden)) << why(forbidden);
}

TEST_F(ClientTrust, AClientCertificateIsAnIdentity) {
  const auto admin = plane_->authority().client("certified", {"system:masters"});
  ASSERT_TRUE(admin) << why(admin);
  auto mine = config();
  mine.token.clear();
  mine.tls.cert_pem = admin->certificate;
  mine.tls.key_pem = admin->key;
  EXPECT_TRUE(Client(mine).get(kConfigMaps, {ns_, "a"}).is(Code::kNotFound));

  const auto expired =
      plane_->authority().client("certified", {"system:masters"}, Validity::kExpired);
  ASSERT_TRUE(expired) << why(expired);
  mine.tls.cert_pem = expired->certificate;
  mine.tls.key_pem = expired->key;
  const auto refused = Client(mine).get(kConfigMaps, {ns_, "a"});
  EXPECT_TRUE(refused.is(Code::kUnauthorized)) << why(refused);
}

TEST_F(ClientTrust, ImpersonationIsRequestedAndApplied) {
  auto as = config();
  as.impersonate = {.user = "guest", .groups = {"nothing"}};
  const auto read = Client(as).get(kConfigMaps, {ns_, "a"});
  ASSERT_TRUE(read.is(Code::kForbidden)) << why(read);
  EXPECT_NE(read.error().message.find("guest"), std::string::npos) << read.error().message;
}

TEST_F(ClientTrust, ARotatedTokenFileIsReadAgain) {
  const std::string path = plane_->directory() + "/rotating-token";
  std::ofstream(path) << "not-yet-a-token";
  auto rotating = config();
  rotating.token.clear();
  rotating.token_file = path;
  Client api(rotating);
  EXPECT_TRUE(api.get(kConfigMaps, {ns_, "a"}).is(Code::kUnauthorized));
  std::ofstream(path + ".new") << plane_->token();
  std::filesystem::rename(path + ".new", path);
  EXPECT_TRUE(api.get(kConfigMaps, {ns_, "a"}).is(Code::kNotFound));
}

// The plugin first prints a token that the server refuses, then a good one: a 401 runs it again.
TEST_F(ClientTrust, AKubeconfigWithAnExecPluginRunsItAgainAfterARefusal) {
  const std::string dir = plane_->directory() + "/exec";
  std::filesystem::create_directories(dir);
  const auto print = [](const std::string& token) {
    return R"(echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":")" +
           token + "\"}}'\n";
  };
  std::ofstream(dir + "/login") << "#!/bin/sh\necho run >> " << dir << "/runs\n"
                                << "if [ $(wc -l < " << dir << "/runs) = 1 ]; then\n"
                                << print("stale") << "else\n"
                                << print(plane_->token()) << "fi\n";
  chmod((dir + "/login").c_str(), 0700);
  std::ifstream ca(plane_->ca_path());
  const std::string ca_pem(std::istreambuf_iterator<char>(ca), {});
  std::ofstream(dir + "/config")
      << "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
      << "clusters: [{name: k, cluster: {server: '" << plane_->url()
      << "', certificate-authority-data: " << base64_encode(ca_pem) << "}}]\n"
      << "users: [{name: u, user: {exec: {command: ./login, interactiveMode: Never,"
      << " apiVersion: client.authentication.k8s.io/v1}}}]\n";
  const auto config = load_config({.path = dir + "/config"}, {});
  ASSERT_TRUE(config) << why(config);
  Client api(*config);
  const auto made = api.create(kConfigMaps, config_map("a"));
  ASSERT_TRUE(made) << why(made);
  EXPECT_TRUE(api.get(kConfigMaps, {ns_, "a"}));
  std::ifstream runs(dir + "/runs");
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>(runs), {}, '\n'), 2);
}

}  // namespace
}  // namespace paddle::test
