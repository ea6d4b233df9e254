// SPDX-License-Identifier: Apache-2.0
//
// Checks a normalized value against a structural schema: types, limits, patterns, formats,
// uniqueness in lists. Internal to api/. Given an old value, subtrees equal to it are not checked.

#pragma once

#include <string>
#include <vector>

#include "api/crd/validate.h"
#include "api/json/json.h"

namespace paddle::api {

void check_structure(const Json& value, const Json* old, const Json& schema,
                     const std::string& path, std::vector<Problem>& problems);

// The element of `old` that has the keys of `item` in a list-map; null when there is none.
const Json* counterpart(const Json& item, const Json* old, const Json& schema);

}  // namespace paddle::api
