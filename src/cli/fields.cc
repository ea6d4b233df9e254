// SPDX-License-Identifier: Apache-2.0
#include "cli/fields.h"

#include <nlohmann/json.hpp>

namespace paddle::cli {

using api::Json;

const Json* find_at(const Json& in, Path path) {
  const Json* at = &in;
  for (const char* name : path) {
    if (!at->is_object()) return nullptr;
    const auto found = at->find(name);
    if (found == at->end()) return nullptr;
    at = &*found;
  }
  return at;
}

std::string text_at(const Json& in, Path path) {
  const Json* found = find_at(in, path);
  return found && found->is_string() ? found->get<std::string>() : std::string{};
}

std::int64_t number_at(const Json& in, Path path) {
  const Json* found = find_at(in, path);
  return found && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

bool is_true_at(const Json& in, Path path) {
  const Json* found = find_at(in, path);
  return found && found->is_boolean() && found->get<bool>();
}

const Json& list_at(const Json& in, Path path) {
  static const Json kNone = Json::array();
  const Json* found = find_at(in, path);
  return found && found->is_array() ? *found : kNone;
}

const Json* condition_of(const Json& object, const std::string& type) {
  for (const Json& condition : list_at(object, {"status", "conditions"})) {
    if (text_at(condition, {"type"}) == type) return &condition;
  }
  return nullptr;
}

}  // namespace paddle::cli
