// SPDX-License-Identifier: Apache-2.0
//
// `kubeconfig`: prints the kubeconfig with which kubectl and other clients reach the local cluster.
// It contains the cluster's token.

#pragma once

#include "cli/session.h"

namespace CLI {
class App;
}

namespace paddle::cli {

struct Kubeconfig {
  CommonFlags flags{};
  bool path = false;  // print only its path
  bool operator==(const Kubeconfig&) const = default;
};

Result<> run(const Kubeconfig& verb, const CommandContext& context);

// The shell command that makes kubectl use this cluster. The file belongs to root: with sudo a user
// makes a copy. `usual`: the default directory, which need not be named.
std::string kubectl_setup(const local::ClusterDirectory& directory, bool usual, bool by_sudo);

}  // namespace paddle::cli
