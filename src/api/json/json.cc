// SPDX-License-Identifier: Apache-2.0
#include "api/json/json.h"

#include <nlohmann/json.hpp>

namespace paddle::api {
namespace {

// Deeper than any real object; deep enough nesting would exhaust the stack of recursive users.
Result<> check_depth(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth) {
        return Error{Code::kInvalid, "JSON is nested deeper than " + std::to_string(kMaxDepth)};
      }
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return Done{};
}

}  // namespace

Result<Json> parse_json(std::string_view text) {
  CHECK_DONE(check_depth(text));
  try {
    return Json::parse(text);
  } catch (const Json::exception& e) {
    return Error{Code::kInvalid, std::string("not valid JSON: ") + e.what()};
  }
}

std::string dump_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Opaque::Opaque(Json value) : held_(std::make_shared<const Json>(std::move(value))) {}

bool operator==(const Opaque& a, const Opaque& b) {
  if (a.held_ == b.held_) return true;
  return a.held_ && b.held_ && *a.held_ == *b.held_;
}

}  // namespace paddle::api
