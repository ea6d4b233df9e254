// SPDX-License-Identifier: Apache-2.0
//
// Reads fields of objects that others wrote: a field that is missing, or has another type, counts
// as absent. A path is a key, or a JSON pointer when it begins with '/': "spec",
// "/spec/csi/driver". Pure.

#pragma once

#include <cstdint>
#include <string>

#include "api/json/json.h"

namespace paddle::api {

const Json& look(const Json& object, const char* path);  // null when absent
std::string look_text(const Json& object, const char* path);
bool look_flag(const Json& object, const char* path);
std::int64_t look_integer(const Json& object, const char* path, std::int64_t otherwise = 0);
const Json& look_list(const Json& object, const char* path);  // an empty list when absent

// The list or the object under `key`, for changes: made empty when it is absent or of another kind.
Json& list_in(Json& object, const char* key);
Json& object_in(Json& object, const char* key);

}  // namespace paddle::api
