// SPDX-License-Identifier: Apache-2.0
//
// The files of a pod on this machine, and their removal. The layout is in pod_logs.h. A pod that
// has ended keeps its logs while its object exists.

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

// Creates the pod's directory for logs, and the link from its name.
Result<> make_pod_files(const std::string& root, const PodSpec& pod);
// Writes the pod's /etc/hosts: the machine's entries, the pod's name and the lines of Services.
// Returns its path. Containers have the file mounted: it is rewritten in place, and a reader sees
// no half line of another version behind the last one.
Result<std::string> write_hosts(const std::string& root, const std::string& uid,
                                const std::string& address, const std::string& hostname,
                                const std::string& service_lines = "");
void mark_log_ended(const std::string& root, const std::string& uid, const std::string& container,
                    int nth);
void forget_logs_before(const std::string& root, const std::string& uid,
                        const std::string& container, int nth);

// Removes everything but the logs: written files and volumes.
void remove_pod_data(const std::string& root, const std::string& uid);
void remove_pod_files(const std::string& root, const std::string& uid);
// Removes files of pods whose uid is not `known`. Call it when a node starts.
void remove_unknown_pod_files(const std::string& root, const std::set<std::string>& known);

}  // namespace paddle::local
