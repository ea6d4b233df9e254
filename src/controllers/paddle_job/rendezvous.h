// SPDX-License-Identifier: Apache-2.0
//
// What tells every trainer where its peers are: the ConfigMap `<job>` that all containers take
// their environment from. Pure.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/paddle_job.h"
#include "controllers/paddle_job/names.h"

namespace paddle::controllers {

// Addresses by role and index. Complete: one for each replica.
using Addresses = std::map<RoleKind, std::vector<std::string>>;

// "10.0.0.1:36000", "[fd00::1]:36000".
std::string endpoint(const std::string& address, int port);

std::map<std::string, std::string> rendezvous_data(const api::PaddleJob& job,
                                                   const Addresses& addresses);

api::Json rendezvous_map(const api::PaddleJob& job, const std::map<std::string, std::string>& data);

}  // namespace paddle::controllers
