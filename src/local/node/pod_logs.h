// SPDX-License-Identifier: Apache-2.0
//
// `kubectl logs` from the files that containers write: follow, tail, previous, also of pods that
// have ended while their object exists. Needs only the node's directory, so that the API server can
// have it before there is a node:
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
