// SPDX-License-Identifier: Apache-2.0
//
// How to reach a cluster and which identity to use there. Plain values, made by
// kube/config/kubeconfig.h or kube/client/load_config.h and used by kube/client/client.h.
//
// A Config holds secrets; it is never printed. The files that it names (CA, certificate, key,
// token) are read when they are used, so that they can be rotated.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/values/http.h"

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
  std::string origin{};  // where the configuration was found, for messages
};

}  // namespace paddle::kube
