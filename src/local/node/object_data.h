// SPDX-License-Identifier: Apache-2.0
//
// Reads ConfigMaps and Secrets of one namespace when a container starts and when a mounted one has
// changed; nothing is kept in memory. An object that cannot be read counts as absent; callers
// retry.

#pragma once

#include <string>

#include "kube/cluster.h"
#include "local/node/pod_env.h"

namespace paddle::local {

// Borrows the cluster.
ObjectData object_data(kube::Cluster& cluster, const std::string& ns);

}  // namespace paddle::local
