// SPDX-License-Identifier: Apache-2.0
//
// Lists in objects that users wrote: made when absent or null. Include <nlohmann/json.hpp> first.

#pragma once

#include "api/json/json.h"

namespace paddle::controllers {

inline api::Json& list_in(api::Json& object, const char* key) {
  api::Json& list = object[key];
  if (!list.is_array()) list = api::Json::array();
  return list;
}

inline api::Json& object_in(api::Json& object, const char* key) {
  api::Json& inner = object[key];
  if (!inner.is_object()) inner = api::Json::object();
  return inner;
}

}  // namespace paddle::controllers
