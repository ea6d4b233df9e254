// SPDX-License-Identifier: Apache-2.0
//
// What a pod has on this machine's disk, and its end. The layout is in pod_logs.h. A pod that has
// ended keeps its logs while its object exists; nothing stays after that.

#pragma once

#include <set>
#include <string>

#include "base/result.h"
#include "local/node/pod_spec.h"

namespace paddle::local {

std::string pod_directory(const std::string& root, const std::string& uid);
// The log of a container's n-th start, counted from 0.
std::string log_path(const std::string& root, const std::string& uid, const std::string& container,
                     int nth);

// The pod's directory with its logs, and its name pointing to it.
Result<> make_pod_files(const std::string& root, const PodSpec& pod);
// The pod's /etc/hosts: the machine's own, and the pod's name. Its path.
Result<std::string> write_hosts(const std::string& root, const std::string& uid,
                                const std::string& address, const std::string& hostname);
void mark_log_ended(const std::string& root, const std::string& uid, const std::string& container,
                    int nth);
void forget_logs_before(const std::string& root, const std::string& uid,
                        const std::string& container, int nth);

// Everything but the logs: what the pod wrote, its volumes.
void remove_pod_data(const std::string& root, const std::string& uid);
void remove_pod_files(const std::string& root, const std::string& uid);
// Removes what belongs to no pod that is `known` by uid. For the start of a node.
void remove_unknown_pod_files(const std::string& root, const std::set<std::string>& known);

}  // namespace paddle::local
