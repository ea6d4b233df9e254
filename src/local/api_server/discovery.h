// SPDX-License-Identifier: Apache-2.0
//
// The discovery API: versions, groups, resources, and OpenAPI v3 documents with just enough content
// for kubectl to leave validation to the server, plus the full schemas of our own kinds (kubectl
// explain). All of it is derived from kinds.h. Pure.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "local/api_server/reply.h"

namespace paddle::local {

// The answer to a GET of one of /version, /api, /apis, /api/v1, /apis/<group>, /apis/<group>/<v>,
// /openapi/v3 and what is beneath it; nullopt for any other path.
std::optional<Reply> discover(const std::vector<std::string>& path, std::string_view accept);

}  // namespace paddle::local
