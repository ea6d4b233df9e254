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
  Where where{};
  bool path = false;  // print where it is
  bool operator==(const Kubeconfig&) const = default;
};

Result<> run(const Kubeconfig& verb, const Around& around);

}  // namespace paddle::cli
