// SPDX-License-Identifier: Apache-2.0
//
// Lists in objects that users wrote: made when absent or null. Include <nlohmann/json.hpp> first.

#pragma once

#include "api/json/json.h"

namespace paddle::api {

inline Json& list_in(Json& object, const char* key) {
  Json& list = object[key];
  if (!list.is_array()) list = Json::array();
  return list;
}

inline Json& object_in(Json& object, const char* key) {
  Json& inner = object[key];
  if (!inner.is_object()) inner = Json::object();
  return inner;
}

}  // namespace paddle::api
