// SPDX-License-Identifier: Apache-2.0
//
// What the API server does to an object before it validates it. Internal to api/.

#pragma once

#include <string>
#include <vector>

#include "api/crd/validate.h"
#include "api/json/json.h"

namespace paddle::api {

// Drops unknown fields and meaningless nulls, fills in defaults. Dropped fields are added to
// `unknown` when it is not null.
void normalize(Json& value, const Json& schema, const std::string& path,
               std::vector<Problem>* unknown);

// Checks metadata: its structure, and the syntax of names.
void check_metadata(const Json& object, bool strict, std::vector<Problem>& problems);

}  // namespace paddle::api
