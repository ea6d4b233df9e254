// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/patches.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace paddle::local {
namespace {

using api::Json;

constexpr size_t kMostOperations = 1000;
constexpr size_t kMostPatchedBytes = size_t{4} << 20;
constexpr size_t kMostSteps = 128;  // maximum depth of a path, as of any JSON that is parsed

Error bad(std::string message) { return {Code::kInvalid, std::move(message)}; }

size_t depth_of(const Json& value, size_t limit) {
  if (!value.is_structured() || limit == 0) return 1;
  size_t deepest = 0;
  for (const Json& part : value) deepest = std::max(deepest, depth_of(part, limit - 1));
  return deepest + 1;
}

// Each copy may double the object: its size is limited, not only the number of operations.
bool is_bounded(const Json& object) {
  return depth_of(object, 2 * kMostSteps) <= kMostSteps &&
         api::dump_json(object).size() <= kMostPatchedBytes;
}

bool is_operation(const Json& operation) {
  if (!operation.is_object() || !operation.contains("op") || !operation.contains("path")) {
    return false;
  }
  for (const char* field : {"op", "path", "from"}) {
    if (!operation.contains(field)) continue;
    if (!operation[field].is_string()) return false;
    const auto& text = operation[field].get_ref<const std::string&>();
    if (std::ranges::count(text, '/') > static_cast<std::ptrdiff_t>(kMostSteps)) return false;
  }
  return true;
}

// nlohmann-json asserts that the parent of an added value is an object or a list.
bool has_place_for(const Json& object, const Json& operation) {
  Json::json_pointer parent(operation["path"].get_ref<const std::string&>());
  if (parent.empty()) return true;
  parent.pop_back();
  return object.contains(parent) && object.at(parent).is_structured();
}

void apply_one(Json& object, const Json& operation) {
  object.patch_inplace(Json::array({operation}));
}

// May throw exceptions of nlohmann-json; false when the value has no parent.
bool apply(Json& object, const Json& operation) {
  const Json& op = operation["op"];
  if (op != "add" && op != "copy" && op != "move") {
    apply_one(object, operation);
    return true;
  }
  Json add{{"op", "add"}, {"path", operation["path"]}};
  if (op == "add") {
    add["value"] = operation.at("value");
  } else {
    add["value"] = object.at(Json::json_pointer(operation.at("from").get<std::string>()));
    if (op == "move") apply_one(object, {{"op", "remove"}, {"path", operation["from"]}});
  }
  if (!has_place_for(object, add)) return false;
  apply_one(object, add);
  return true;
}

Result<Json> json_patched(Json object, const Json& patch) {
  if (!patch.is_array()) return bad("a JSON patch must be a list of operations");
  if (patch.size() > kMostOperations) return bad("the patch has too many operations");
  for (const Json& operation : patch) {
    if (!is_operation(operation))
      return bad("the patch contains an element that is not an operation");
    try {
      if (!apply(object, operation))
        return bad("the patch adds to a value that is neither an object nor a list");
    } catch (const Json::exception& failure) {
      return bad(std::string("the patch does not apply: ") + failure.what());
    }
    const bool moves = operation["op"] == "copy" || operation["op"] == "move";
    if (moves && !is_bounded(object)) return bad("the patch makes the object too large");
  }
  return object;
}

}  // namespace

Result<Json> patched(Json object, PatchStyle style, const Json& patch) {
  if (style == PatchStyle::kJson) return json_patched(std::move(object), patch);
  if (!patch.is_object()) return bad("the patch must be an object");
  if (style == PatchStyle::kStrategic) return strategic_merge(std::move(object), patch);
  object.merge_patch(patch);
  return object;
}

}  // namespace paddle::local
