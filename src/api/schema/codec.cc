// SPDX-License-Identifier: Apache-2.0
#include "api/schema/codec.h"

namespace paddle::api::codec {

std::string to_string(const Path& path) {
  if (!path.up) return path.key ? path.key : "";
  std::string text = to_string(*path.up);
  if (!path.key) return text + "[" + std::to_string(path.index) + "]";
  return text.empty() ? path.key : text + "." + path.key;
}

Error trouble(const Path& path, const Json& found, const char* expected) {
  std::string where = to_string(path);
  if (where.empty()) where = "the object";
  return {Code::kInvalid, where + " must be " + expected + ", not " +
                              (found.is_number() ? "the number " + dump_json(found)
                                                 : std::string(found.type_name()))};
}

std::optional<std::int64_t> integer(const Json& from, std::int64_t least, std::int64_t most) {
  std::int64_t number = 0;
  if (from.is_number_unsigned()) {
    const auto wide = from.get<std::uint64_t>();
    if (wide > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return {};
    number = static_cast<std::int64_t>(wide);
  } else if (from.is_number_integer()) {
    number = from.get<std::int64_t>();
  } else if (from.is_number_float()) {  // 3.0 is an integer to the API server too
    const double wide = from.get<double>();
    if (!(std::abs(wide) < 9.0e15) || wide != std::floor(wide)) return {};
    number = static_cast<std::int64_t>(wide);
  } else {
    return {};
  }
  if (number < least || number > most) return {};
  return number;
}

Result<> read_texts(const Json& from, TextMap& to, const Path& at) {
  if (!from.is_object()) return trouble(at, from, "an object");
  for (const auto& [key, value] : from.items()) {
    if (!value.is_string()) return trouble(Path{&at, key.c_str()}, value, "a string");
    to[key] = value.get_ref<const std::string&>();
  }
  return Done{};
}

Result<> read_time(const Json& from, WallTime& to, const Path& at) {
  if (!from.is_string()) return trouble(at, from, "a time");
  auto parsed = parse_rfc3339(from.get_ref<const std::string&>());
  if (!parsed) return Error{Code::kInvalid, to_string(at) + " must be an RFC 3339 time"};
  to = *parsed;
  return Done{};
}

}  // namespace paddle::api::codec
