// SPDX-License-Identifier: Apache-2.0
//
// `kubeconfig`: the file with which kubectl and other clients reach the local cluster. It holds the
// cluster's token.

#pragma once

#include "cli/session.h"

namespace CLI {
class App;
}

namespace paddle::cli {

struct Kubeconfig {
  CommonFlags flags{};
  bool path = false;  // print where it is
  bool operator==(const Kubeconfig&) const = default;
};

Result<> run(const Kubeconfig& verb, const CommandContext& context);

// The line for a shell in which kubectl is to use this cluster. The file is root's: a user who came
// by sudo makes a copy. `usual`: the directory need not be named.
std::string kubectl_setup(const local::ClusterDirectory& directory, bool usual, bool by_sudo);

}  // namespace paddle::cli
