// SPDX-License-Identifier: Apache-2.0
//
// The kubeconfig file format: text -> values -> the Config of one context. Pure, and safe on
// hostile text (api/json/yaml_reader.h). Unknown fields are ignored, as kubectl does.

#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/config/config.h"

namespace paddle::kube {

struct NamedCluster {
  std::string server{};
  net::TlsOptions tls{};
  std::optional<std::string> proxy{};
  std::string exec_config{};  // JSON text of the extension client.authentication.k8s.io/exec
};

struct NamedUser {
  std::string cert_file{};
  std::string cert_pem{};
  std::string key_file{};
  std::string key_pem{};
  std::string token{};
  std::string token_file{};
  std::string username{};
  std::string password{};
  Impersonation impersonate{};
  std::optional<ExecPlugin> exec{};
  std::string interactive_mode{};
  std::string auth_provider{};  // its name, only for the error: it is not supported
};

struct NamedContext {
  std::string cluster{};
  std::string user{};
  std::string ns{};
};

struct Kubeconfig {
  std::string current_context{};
  std::map<std::string, NamedCluster> clusters{};
  std::map<std::string, NamedUser> users{};
  std::map<std::string, NamedContext> contexts{};
};

// Relative file names, and exec commands with a slash in them, are relative to `dir`, the directory
// of the kubeconfig.
Result<Kubeconfig> parse_kubeconfig(std::string_view text, const std::string& dir);

// Entries of `first` win; `next` adds entries and a current context that `first` does not have.
void merge(Kubeconfig& first, Kubeconfig next);

// kInvalid, naming the entry, when a reference has no target or two settings contradict each other.
Result<Config> resolve(const Kubeconfig& kubeconfig, const std::string& context);

}  // namespace paddle::kube
