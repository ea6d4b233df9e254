// SPDX-License-Identifier: Apache-2.0
#include "kube/config/kubeconfig.h"

#include <gtest/gtest.h>

namespace paddle::kube {
namespace {

Result<Config> config_of(const std::string& text, const std::string& context = {}) {
  TRY(const Kubeconfig parsed, parse_kubeconfig(text, "/etc/k"));
  return resolve(parsed, context);
}

// A kubeconfig with one context whose cluster and user hold the given lines.
std::string with(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
         "contexts: [{name: c, context: {cluster: k, user: u, namespace: train}}]\n"
         "clusters:\n- name: k\n  cluster: {server: 'https://h:6443', " +
         cluster +
         "}\n"
         "users:\n- name: u\n  user: {" +
         user + "}\n";
}

std::string complaint(const std::string& text) {
  const auto config = config_of(text);
  return config ? "no complaint" : config.error().message;
}

TEST(Kubeconfig, ReadsEveryFieldWeUse) {
  const auto config = config_of(
      with("certificate-authority-data: Zm9v, tls-server-name: n, proxy-url: 'socks5://p:1'",
           "token: t, as: them, as-uid: '7', as-groups: [g1, g2], as-user-extra: {scope: [a]},"
           "client-certificate-data: Y2VydA==, client-key-data: a2V5"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server, "https://h:6443");
  EXPECT_EQ(config->tls.ca_pem, "foo");
  EXPECT_EQ(config->tls.server_name, "n");
  EXPECT_EQ(config->proxy, "socks5://p:1");
  EXPECT_EQ(config->token, "t");
  EXPECT_EQ(config->tls.cert_pem, "cert");
  EXPECT_EQ(config->tls.key_pem, "key");
  EXPECT_EQ(config->ns, "train");
  EXPECT_EQ(config->impersonate, (Impersonation{"them", "7", {"g1", "g2"}, {{"scope", {"a"}}}}));
}

TEST(Kubeconfig, RelativeFilesAreRelativeToTheKubeconfig) {
  const auto config =
      config_of(with("certificate-authority: ca.crt",
                     "tokenFile: /abs/t, client-certificate: sub/c, client-key: k"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->tls.ca_file, "/etc/k/ca.crt");
  EXPECT_EQ(config->token_file, "/abs/t");
  EXPECT_EQ(config->tls.cert_file, "/etc/k/sub/c");
  EXPECT_EQ(config->tls.key_file, "/etc/k/k");
}

TEST(Kubeconfig, ReadsAnExecPlugin) {
  const auto config = config_of(with(
      "extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: 7}}]",
      "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./bin/login, args: [-x, 1],"
      "env: [{name: A, value: b}], installHint: get it, provideClusterInfo: true, interactiveMode: "
      "Never}"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->exec, (ExecPlugin{.command = "/etc/k/./bin/login",
                                      .args = {"-x", "1"},
                                      .env = {{"A", "b"}},
                                      .api_version = "client.authentication.k8s.io/v1",
                                      .install_hint = "get it",
                                      .provide_cluster_info = true,
                                      .cluster_config = R"({"audience":7})"}));
}

TEST(Kubeconfig, ANumberInPlaceOfAStringIsRead) {
  EXPECT_EQ(config_of(with("a: b", "token: 12345"))->token, "12345");
  EXPECT_EQ(config_of(with("a: b", "token: 0012"))->token, "0012");
}

TEST(Kubeconfig, EachMistakeIsNamed) {
  EXPECT_EQ(complaint(with("insecure-skip-tls-verify: true, certificate-authority: x", "token: t")),
            "cluster 'k' has a certificate authority and insecure-skip-tls-verify; choose one");
  EXPECT_EQ(complaint(with("insecure-skip-tls-verify: perhaps", "token: t")),
            "cluster 'k'.insecure-skip-tls-verify is not true or false");
  EXPECT_EQ(complaint(with("certificate-authority-data: '***'", "token: t")),
            "cluster 'k'.certificate-authority-data: not valid base64");
  EXPECT_EQ(complaint(with("a: b", "auth-provider: {name: gcp}")),
            "user 'u' uses auth-provider 'gcp', which Kubernetes has removed; use an exec plugin");
  EXPECT_EQ(complaint(with("a: b", "token: t, username: n")),
            "user 'u' has both a token and a user name");
  EXPECT_EQ(complaint(with("a: b", "client-certificate: c")),
            "user 'u' needs a client certificate and its key, and has only one");
  EXPECT_EQ(complaint(with("a: b", "as-groups: [x]")),
            "user 'u' impersonates groups or a uid without a user (as)");
  EXPECT_EQ(complaint(with(
                "a: b", "exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: c}")),
            "user 'u': exec plugin with apiVersion 'client.authentication.k8s.io/v1alpha1'; v1 and "
            "v1beta1 of "
            "client.authentication.k8s.io are supported");
  EXPECT_EQ(complaint(with("a: b",
                           "exec: {apiVersion: client.authentication.k8s.io/v1, command: c,"
                           " interactiveMode: Always}")),
            "user 'u': exec plugin 'c' requires a terminal (interactiveMode: Always)");
  EXPECT_EQ(complaint(with("a: b", "token: [secret]")), "user 'u'.token is not a string");
  EXPECT_EQ(complaint("kind: Pod"), "kind is 'Pod', not Config");
  EXPECT_EQ(complaint("[]"), "kubeconfig is not a mapping");
  EXPECT_EQ(complaint(""), "no current-context is set");
  EXPECT_EQ(complaint("current-context: x"), "there is no context 'x'");
  EXPECT_EQ(complaint("current-context: x\ncontexts: [{name: x, context: {cluster: y}}]"),
            "context 'x' names cluster 'y', which does not exist");
  EXPECT_EQ(complaint("clusters: 7"), "kubeconfig.clusters is not a list");
}

TEST(Kubeconfig, AServerWithoutASchemeIsHttpsOnlyWithACa) {
  const auto server = [](const std::string& cluster) {
    return config_of(
               "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\nclusters:\n"
               "- name: k\n  cluster: {" +
               cluster + "}")
        ->server;
  };
  EXPECT_EQ(server("server: 'h:1', certificate-authority: x"), "https://h:1");
  EXPECT_EQ(server("server: 'localhost:8080'"), "http://localhost:8080");
  EXPECT_EQ(server("server: 'https://h/prefix/'"), "https://h/prefix");
}

TEST(Kubeconfig, WhenMergedTheFirstEntryWins) {
  auto first = *parse_kubeconfig(with("a: b", "token: first"), "/");
  auto second = *parse_kubeconfig(
      "current-context: d\ncontexts: [{name: d, context: {cluster: k2, user: u}}]\n"
      "clusters: [{name: k2, cluster: {server: 'https://h2'}}]\n"
      "users: [{name: u, user: {token: second}}]",
      "/");
  merge(first, std::move(second));
  EXPECT_EQ(resolve(first, "")->server, "https://h:6443");
  EXPECT_EQ(resolve(first, "d")->server, "https://h2");
  EXPECT_EQ(resolve(first, "d")->token, "first");
}

}  // namespace
}  // namespace paddle::kube
