// SPDX-License-Identifier: Apache-2.0
#include "api/json/look.h"

#include <nlohmann/json.hpp>

namespace paddle::api {

const Json& look(const Json& object, const char* path) {
  static const Json kNothing;
  if (*path == '/') {
    const Json::json_pointer where(path);
    return object.contains(where) ? object.at(where) : kNothing;
  }
  if (!object.is_object()) return kNothing;
  const auto found = object.find(path);
  return found == object.end() ? kNothing : *found;
}

std::string look_text(const Json& object, const char* path) {
  const Json& value = look(object, path);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool look_flag(const Json& object, const char* path) {
  const Json& value = look(object, path);
  return value.is_boolean() && value.get<bool>();
}

std::int64_t look_integer(const Json& object, const char* path, std::int64_t otherwise) {
  const Json& value = look(object, path);
  return value.is_number_integer() ? value.get<std::int64_t>() : otherwise;
}

const Json& look_list(const Json& object, const char* path) {
  static const Json kNone = Json::array();
  const Json& value = look(object, path);
  return value.is_array() ? value : kNone;
}

Json& list_in(Json& object, const char* key) {
  Json& list = object[key];
  if (!list.is_array()) list = Json::array();
  return list;
}

Json& object_in(Json& object, const char* key) {
  Json& inner = object[key];
  if (!inner.is_object()) inner = Json::object();
  return inner;
}

}  // namespace paddle::api
