// SPDX-License-Identifier: Apache-2.0
//
// ConfigMaps and Secrets of one namespace, asked for when a container starts and when one that it
// mounts has changed: nothing of them is kept in memory. One that can not be read just now counts
// as absent; whoever needs it asks again.

#pragma once

#include <string>

#include "kube/cluster.h"
#include "local/node/pod_env.h"

namespace paddle::local {

// Borrows the cluster.
ObjectData object_data(kube::Cluster& cluster, const std::string& ns);

}  // namespace paddle::local
