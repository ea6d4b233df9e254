// SPDX-License-Identifier: Apache-2.0
#include "kube/client/load_config.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/scratch.h"

namespace paddle::kube {
namespace {

namespace fs = std::filesystem;

class LoadConfigTest : public testing::Test {
 protected:
  LoadConfigTest() {
    fs::create_directories(dir_ / "home/.kube");
    fs::create_directories(dir_ / "sa");
  }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(dir_ / name) << text;
    return dir_ / name;
  }
  std::string kubeconfig(const std::string& name, const std::string& host,
                         const std::string& more = {}) {
    return write(name,
                 "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n"
                 "clusters: [{name: k, cluster: {server: 'https://" +
                     host + "', " + more + "}}]\n");
  }
  void service_account() {
    write("sa/token", "tok\n");
    write("sa/ca.crt", "ca");
    write("sa/namespace", "paddle-system\n");
  }
  Environment environment() const {
    return {.home = dir_ / "home",
            .service_host = "10.0.0.1",
            .service_port = "443",
            .service_account = dir_ / "sa"};
  }

  const Scratch scratch_;
  const fs::path dir_{scratch_.path()};
};

TEST_F(LoadConfigTest, TheFirstExistingPlaceIsUsed) {
  auto env = environment();
  EXPECT_TRUE(load_config({}, env).is(Code::kNotFound));

  kubeconfig("home/.kube/config", "at-home");
  EXPECT_EQ(load_config({}, env)->server, "https://at-home");
  service_account();
  EXPECT_EQ(load_config({}, env)->server, "https://10.0.0.1:443");
  env.kubeconfig = kubeconfig("a", "listed");
  EXPECT_EQ(load_config({}, env)->server, "https://listed");
  EXPECT_EQ(load_config({.path = kubeconfig("b", "explicit")}, env)->server, "https://explicit");
}

TEST_F(LoadConfigTest, ABrokenPlaceIsAnErrorAndTheNextIsNotTried) {
  auto env = environment();
  service_account();
  env.kubeconfig = write("broken", "{{{");
  const auto config = load_config({}, env);
  ASSERT_TRUE(config.is(Code::kInvalid));
  EXPECT_TRUE(config.error().message.starts_with(dir_.string() + "/broken: not usable YAML"));
  EXPECT_TRUE(load_config({.path = dir_ / "none"}, env).is(Code::kNotFound));
  EXPECT_TRUE(load_config({.path = dir_}, env).is(Code::kInvalid));
}

TEST_F(LoadConfigTest, KubeconfigIsAListWhoseMissingFilesAreSkipped) {
  auto env = environment();
  env.kubeconfig = "/nonexistent/x::" + kubeconfig("a", "first", "certificate-authority: ca.crt") +
                   ":" + kubeconfig("b", "second");
  const auto config = load_config({}, env);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server, "https://first");
  EXPECT_EQ(config->tls.ca_file, (dir_ / "ca.crt").string());
  env.kubeconfig = "/nonexistent/x:/nonexistent/y";
  EXPECT_TRUE(load_config({}, env).is(Code::kNotFound));
}

TEST_F(LoadConfigTest, InAPodTheServiceAccountIsEnough) {
  service_account();
  auto env = environment();
  const auto config = in_cluster_config(env);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->token_file, (dir_ / "sa/token").string());
  EXPECT_EQ(config->tls.ca_file, (dir_ / "sa/ca.crt").string());
  EXPECT_EQ(config->ns, "paddle-system");
  env.service_host = "fd00::1";
  EXPECT_EQ(in_cluster_config(env)->server, "https://[fd00::1]:443");
  env.service_port = "not a port";
  EXPECT_TRUE(in_cluster_config(env).is(Code::kInvalid));
}

}  // namespace
}  // namespace paddle::kube
