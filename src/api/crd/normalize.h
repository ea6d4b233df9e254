// SPDX-License-Identifier: Apache-2.0
//
// What the API server does to an object before it looks at it. Internal to api/.

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

// metadata: refuses what is not an ObjectMeta and names that are not names.
void check_metadata(const Json& object, bool strict, std::vector<Problem>& problems);

}  // namespace paddle::api
