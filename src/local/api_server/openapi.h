// SPDX-License-Identifier: Apache-2.0
//
// OpenAPI v3 for kubectl. It looks up whether PATCH of a kind takes `fieldValidation` (then the
// server validates, not kubectl), and `kubectl explain` reads the schemas. Core kinds get an open
// schema; ours the one of the CRD.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "local/api_server/reply.h"

namespace paddle::local {

Reply openapi(const std::vector<std::string>& path, std::string_view accept);

}  // namespace paddle::local
