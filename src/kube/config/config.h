// SPDX-License-Identifier: Apache-2.0
//
// How to reach a cluster and who to be there. load_config() takes the first of
//
//   1. the file named explicitly (a --kubeconfig flag): it alone;
//   2. the files of KUBECONFIG, merged as kubectl does (kube/config/kubeconfig.h);
//   3. the pod's service account, when KUBERNETES_SERVICE_HOST/PORT and its token are there;
//   4. ~/.kube/config
//
// so that in a pod nothing has to be said, and on a desk what kubectl uses is used. A step that is
// there but broken is an error, never a reason to go on to the next one.
//
// A Config holds secrets; it is never printed. Files it names (CA, certificate, key, token) are
// read when they are used, so that they can be rotated.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/http.h"

namespace paddle::kube {

// A program that prints a credential (client.authentication.k8s.io).
struct ExecPlugin {
  std::string command{};
  std::vector<std::string> args{};
  std::vector<std::pair<std::string, std::string>> env{};
  std::string api_version{};
  std::string install_hint{};
  bool provide_cluster_info = false;
  std::string cluster_config{};  // JSON text of the cluster's extension of that name, or empty
  bool operator==(const ExecPlugin&) const = default;
};

struct Impersonation {
  std::string user{};
  std::string uid{};
  std::vector<std::string> groups{};
  std::map<std::string, std::vector<std::string>> extra{};
  bool operator==(const Impersonation&) const = default;
};

struct Config {
  std::string server{};  // https://host:port, perhaps with a path
  net::TlsOptions tls{};
  std::optional<std::string> proxy{};
  // At most one way to authenticate besides a client certificate; a token file wins over a token.
  std::string token{};
  std::string token_file{};
  std::string username{};
  std::string password{};
  std::optional<ExecPlugin> exec{};
  Impersonation impersonate{};
  std::string ns = "default";
  std::string origin{};  // where it came from, for people
};

struct Environment {
  std::string kubeconfig{};  // KUBECONFIG
  std::string home{};
  std::string service_host{};
  std::string service_port{};
  std::string service_account = "/var/run/secrets/kubernetes.io/serviceaccount";
};
Environment environment_of_process();

struct LoadOptions {
  std::string path{};     // explicit kubeconfig
  std::string context{};  // instead of current-context
};

Result<Config> load_config(const LoadOptions& options, const Environment& environment);
Result<Config> in_cluster_config(const Environment& environment);

}  // namespace paddle::kube
