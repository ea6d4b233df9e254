// SPDX-License-Identifier: Apache-2.0
//
// OpenAPI v3 for kubectl, which checks whether PATCH of a kind supports `fieldValidation` (then the
// server validates, not kubectl); `kubectl explain` uses the schemas. Core kinds have an open
// schema, our kinds that of the CRD.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "local/api_server/reply.h"

namespace paddle::local {

Reply openapi(const std::vector<std::string>& path, std::string_view accept);

}  // namespace paddle::local
