// SPDX-License-Identifier: Apache-2.0
//
// Checks a normalized value against a structural schema: types, limits, patterns, formats, list
// uniqueness. Internal to api/. Given an old value, subtrees that are equal to it are passed over.

#pragma once

#include <string>
#include <vector>

#include "api/crd/validate.h"
#include "api/json/json.h"

namespace paddle::api {

void check_structure(const Json& value, const Json* old, const Json& schema,
                     const std::string& path, std::vector<Problem>& problems);

// The element of `old` that `item` continues, by the keys of a list-map; null when there is none.
const Json* continued(const Json& item, const Json* old, const Json& schema);

}  // namespace paddle::api
