// SPDX-License-Identifier: Apache-2.0
#include "kube/client/load_config.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <unistd.h>

#include "api/json/yaml_reader.h"
#include "kube/config/kubeconfig.h"
#include "net/values/url.h"
#include "os/read_file.h"

namespace paddle::kube {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

Result<Kubeconfig> read_kubeconfig(const std::string& path) {
  TRY(const std::string text, os::read_file(path, api::kMaxYamlBytes));
  std::error_code ignored;
  const auto dir = std::filesystem::absolute(path, ignored).parent_path();
  auto parsed = parse_kubeconfig(text, dir.string());
  if (!parsed) return std::move(parsed).error().in(path);
  return parsed;
}

Result<Config> one_file(const std::string& path, const std::string& context) {
  TRY(const Kubeconfig kubeconfig, read_kubeconfig(path));
  auto config = resolve(kubeconfig, context);
  if (!config) return std::move(config).error().in(path);
  config->origin += " of " + path;
  return config;
}

// Missing files are skipped, as kubectl does; at least one must exist.
Result<Config> listed_files(const std::string& paths, const std::string& context) {
  Kubeconfig merged;
  bool any = false;
  for (size_t at = 0; at <= paths.size();) {
    const size_t colon = std::min(paths.find(':', at), paths.size());
    const std::string path = paths.substr(at, colon - at);
    at = colon + 1;
    if (path.empty()) continue;
    auto next = read_kubeconfig(path);
    if (next.is(Code::kNotFound)) continue;
    if (!next) return std::move(next).error();
    merge(merged, *std::move(next));
    any = true;
  }
  if (!any) return Error{Code::kNotFound, "none of the files in KUBECONFIG exists: " + paths};
  auto config = resolve(merged, context);
  if (!config) return std::move(config).error().in("KUBECONFIG " + paths);
  config->origin += " of KUBECONFIG " + paths;
  return config;
}

}  // namespace

Environment environment_of_process() {
  return {.kubeconfig = variable("KUBECONFIG"),
          .home = variable("HOME"),
          .service_host = variable("KUBERNETES_SERVICE_HOST"),
          .service_port = variable("KUBERNETES_SERVICE_PORT")};
}

Result<Config> in_cluster_config(const Environment& environment) {
  const std::string& host = environment.service_host;
  const std::string& dir = environment.service_account;
  if (host.empty() || environment.service_port.empty()) {
    return Error{Code::kNotFound, "not in a pod: KUBERNETES_SERVICE_HOST and _PORT are not set"};
  }
  // Read only to fail early; later the files are read again when they change.
  TRY(const std::string token, os::read_file(dir + "/token", size_t{1} << 20));
  TRY(const std::string ca, os::read_file(dir + "/ca.crt", size_t{4} << 20));

  Config config;
  const bool v6 = host.find(':') != std::string::npos && !host.starts_with('[');
  config.server = "https://" + (v6 ? "[" + host + "]" : host) + ":" + environment.service_port;
  auto origin = net::origin_of(config.server);
  if (!origin) return std::move(origin).error().in("KUBERNETES_SERVICE_HOST and _PORT");
  config.tls.ca_file = dir + "/ca.crt";
  config.token_file = dir + "/token";
  if (auto ns = os::read_file(dir + "/namespace", 1024); ns) {
    while (!ns->empty() && static_cast<unsigned char>(ns->back()) <= ' ') ns->pop_back();
    if (!ns->empty()) config.ns = *std::move(ns);
  }
  config.origin = "the pod's service account";
  return config;
}

Result<Config> load_config(const LoadOptions& options, const Environment& environment) {
  if (!options.path.empty()) return one_file(options.path, options.context);
  if (!environment.kubeconfig.empty()) return listed_files(environment.kubeconfig, options.context);
  const bool in_pod = !environment.service_host.empty() && !environment.service_port.empty() &&
                      ::access((environment.service_account + "/token").c_str(), F_OK) == 0;
  if (in_pod && options.context.empty()) return in_cluster_config(environment);
  const std::string home = environment.home + "/.kube/config";
  auto config = one_file(home, options.context);
  if (config.is(Code::kNotFound)) {
    return Error{
        Code::kNotFound,
        "no cluster configuration found: no --kubeconfig, no KUBECONFIG, no service account at " +
            environment.service_account + ", no " + home};
  }
  return config;
}

}  // namespace paddle::kube
