// SPDX-License-Identifier: Apache-2.0
//
// Decoding and encoding of described structs (field.h). Internal to api/: included by the .cc file
// of each resource, which exports plain functions.
//
// Decoding and then encoding is the identity for every object that can be decoded. A struct keeps
// in `rest` what its fields do not express: unknown keys, and known keys whose spelling encoding
// would not reproduce (null, "", 0, [], 1.0, a time with an offset). A kept spelling is written
// again as long as the field has the value that it was decoded to; the spelling of an edited field
// is dropped.
//
// read() never throws. It reports the first problem as one sentence that begins with the path.

#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "api/json/json.h"
#include "api/schema/field.h"
#include "base/clock.h"
#include "base/result.h"

namespace paddle::api::codec {

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsList = false;
template <typename T>
inline constexpr bool kIsList<std::vector<T>> = true;
template <typename T>
inline constexpr bool kIsInteger =
    std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>;
using TextMap = std::map<std::string, std::string>;
template <typename T>
inline constexpr bool kIsMap = false;  // of structs, by name
template <typename T>
inline constexpr bool kIsMap<std::map<std::string, T>> = !std::is_same_v<T, std::string>;
template <typename T>
inline constexpr bool kIsStruct =
    std::is_class_v<T> && !std::is_same_v<T, std::string> && !std::is_same_v<T, Opaque> &&
    !std::is_same_v<T, WallTime> && !std::is_same_v<T, TextMap> && !kIsOptional<T> && !kIsList<T> &&
    !kIsMap<T>;

// The current position, as a chain on the stack; it becomes text only for an error.
struct Path {
  const Path* up = nullptr;
  const char* key = nullptr;
  size_t index = 0;
};
std::string to_string(const Path& path);
Error trouble(const Path& path, const Json& found, const char* expected);
// nullopt when the number is not an integer of this width.
std::optional<std::int64_t> integer(const Json& from, std::int64_t least, std::int64_t most);

template <typename T>
Result<> read(const Json& from, T& to, const Path& at);

class Decoder {
 public:
  Decoder(const Json& from, const Path& at) : from_(from), at_(at) {}

  template <typename T>
  void operator()(const char* key, T& to, const Field& field) {
    if (!done_) return;
    const Path here{&at_, key};
    const auto found = from_.find(key);
    if (found == from_.end()) {
      if (field.always) done_ = Error{Code::kInvalid, to_string(here) + " is required"};
      return;
    }
    if (found->is_null()) return;  // as if absent; the spelling is kept in rest
    done_ = read(*found, to, here);
    if (done_ && faithful(to, *found, field)) encoded_.push_back(key);
  }

  // Keeps what the fields do not express.
  Result<> finish(Opaque& rest) {
    if (done_ && encoded_.size() < from_.size()) rest = Opaque(not_encoded());
    return std::move(done_);
  }

 private:
  // True when encoding `value` results in `from`.
  template <typename T>
  static bool faithful(const T& value, const Json& from, const Field& field) {
    if constexpr (kIsInteger<T>) {
      return (value != 0 || field.always) && !from.is_number_float();
    } else if constexpr (kIsOptional<T>) {
      Field always;
      always.always = true;
      return faithful(*value, from, always);
    } else if constexpr (std::is_same_v<T, WallTime>) {
      return from == rfc3339(value);
    } else if constexpr (std::is_same_v<T, Opaque>) {
      return true;
    } else if constexpr (std::is_same_v<T, bool>) {
      return value || field.always;
    } else {
      return !from.empty() && from != "" ? true : field.always;
    }
  }

  Json not_encoded() const {
    Json kept = Json::object();
    for (const auto& [key, value] : from_.items()) {
      if (std::find(encoded_.begin(), encoded_.end(), std::string_view(key)) == encoded_.end()) {
        kept[key] = value;
      }
    }
    return kept;
  }

  const Json& from_;
  const Path& at_;
  std::vector<std::string_view> encoded_{};
  Result<> done_ = Done{};
};

template <typename T>
Result<> read_list(const Json& from, std::vector<T>& to, const Path& at) {
  if (!from.is_array()) return trouble(at, from, "a list");
  to.clear();
  to.reserve(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    CHECK_DONE(read(from[i], to.emplace_back(), Path{&at, nullptr, i}));
  }
  return Done{};
}

template <typename T>
Result<> read_map(const Json& from, std::map<std::string, T>& to, const Path& at) {
  if (!from.is_object()) return trouble(at, from, "an object");
  to.clear();
  for (const auto& [key, value] : from.items()) {
    CHECK_DONE(read(value, to[key], Path{&at, key.c_str()}));
  }
  return Done{};
}

Result<> read_texts(const Json& from, TextMap& to, const Path& at);
Result<> read_time(const Json& from, WallTime& to, const Path& at);

template <typename T>
Result<> read(const Json& from, T& to, const Path& at) {
  if constexpr (std::is_same_v<T, std::string>) {
    if (!from.is_string()) return trouble(at, from, "a string");
    to = from.get_ref<const std::string&>();
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!from.is_boolean()) return trouble(at, from, "true or false");
    to = from.get<bool>();
  } else if constexpr (kIsInteger<T>) {
    using Limits = std::numeric_limits<T>;
    const auto number = integer(from, Limits::min(), Limits::max());
    if (!number) return trouble(at, from, sizeof(T) == 4 ? "a 32-bit integer" : "a 64-bit integer");
    to = static_cast<T>(*number);
  } else if constexpr (std::is_same_v<T, Opaque>) {
    to = Opaque(from);
  } else if constexpr (std::is_same_v<T, WallTime>) {
    return read_time(from, to, at);
  } else if constexpr (std::is_same_v<T, TextMap>) {
    return read_texts(from, to, at);
  } else if constexpr (kIsOptional<T>) {
    return read(from, to.emplace(), at);
  } else if constexpr (kIsList<T>) {
    return read_list(from, to, at);
  } else if constexpr (kIsMap<T>) {
    return read_map(from, to, at);
  } else {
    if (!from.is_object()) return trouble(at, from, "an object");
    Decoder decode(from, at);
    fields(decode, to);
    return decode.finish(to.rest);
  }
  return Done{};
}

template <typename T>
Json write(const T& value);

class Encoder {
 public:
  explicit Encoder(const Opaque& rest) : out_(rest ? *rest : Json::object()) {}

  template <typename T>
  void operator()(const char* key, const T& value, const Field& field) {
    if (const auto kept = out_.find(key); kept != out_.end()) {
      T was{};
      if (kept->is_null() ? was == value : read(*kept, was, Path{}) && was == value) return;
      out_.erase(kept);
    }
    if (field.always || !(value == T{})) out_[key] = write(value);
  }
  Json take() { return std::move(out_); }

 private:
  Json out_;
};

template <typename T>
Json write(const T& value) {
  if constexpr (kIsOptional<T>) {
    return value ? write(*value) : Json();
  } else if constexpr (kIsList<T>) {
    Json out = Json::array();
    for (const auto& item : value) out.push_back(write(item));
    return out;
  } else if constexpr (kIsMap<T>) {
    Json out = Json::object();
    for (const auto& [key, item] : value) out[key] = write(item);
    return out;
  } else if constexpr (std::is_same_v<T, Opaque>) {
    return value ? *value : Json();
  } else if constexpr (std::is_same_v<T, WallTime>) {
    return rfc3339(value);
  } else if constexpr (kIsStruct<T>) {
    Encoder encode(value.rest);
    fields(encode, value);
    return encode.take();
  } else {
    return value;
  }
}

}  // namespace paddle::api::codec
