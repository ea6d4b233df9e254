// SPDX-License-Identifier: Apache-2.0
//
// Serves `kubectl logs` from files: follow, tail, previous, also for pods that have ended while
// their object exists. Needs only the node's directory, so that the API server can use it before
// the node starts:
//
//   <directory>/names/<namespace>_<name> -> ../pods/<uid>     the pod that has the name now
//   <directory>/pods/<uid>/containers.txt                       names, the default one first
//   <directory>/pods/<uid>/logs/<container>.<n>.log           output of the n-th start
//   <directory>/pods/<uid>/logs/<container>.<n>.ended         nothing more will come

#pragma once

#include <string>

#include "local/api_server/api.h"

namespace paddle::local {

LogSource pod_logs(const std::string& directory);

}  // namespace paddle::local
