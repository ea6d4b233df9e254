// SPDX-License-Identifier: Apache-2.0
//
// Finds the configuration of the cluster to use. load_config() takes the first of
//
//   1. the file named explicitly (a --kubeconfig flag): it alone;
//   2. the files of KUBECONFIG, merged as kubectl does (kube/config/kubeconfig.h);
//   3. the pod's service account, when KUBERNETES_SERVICE_HOST/PORT and its token are present;
//   4. ~/.kube/config
//
// so that a pod needs no configuration, and a user gets the cluster that kubectl uses. A place that
// exists but cannot be used is an error; the next place is not tried.

#pragma once

#include <string>

#include "base/result.h"
#include "kube/config/config.h"

namespace paddle::kube {

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
