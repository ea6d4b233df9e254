// SPDX-License-Identifier: Apache-2.0
//
// Structured logs: one line per record on standard error, with a constant message and named fields.
//
//   log::info("created pod", {{"job", "ns/name"}, {"rank", 3}});
//
// Two formats: text and json (one object per line). A line is written with one write(2), so that
// lines of different threads do not mix. Thread-safe. Values are escaped, so that a hostile value
// cannot forge a second line.

#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

namespace paddle::log {

enum class Level { kDebug, kInfo, kWarn, kError };
enum class Format { kText, kJson };

struct Field {
  template <typename T>
  Field(std::string_view name, const T& given) : key(name) {
    if constexpr (std::is_same_v<T, bool>) {
      value = given ? "true" : "false";
    } else if constexpr (std::is_arithmetic_v<T>) {
      value = std::to_string(given);
    } else {
      value = std::string_view(given);
      quoted = true;
    }
  }
  std::string_view key;
  std::string value{};
  bool quoted = false;
};
using Fields = std::initializer_list<Field>;

void write(Level level, std::string_view message, Fields fields = {});

inline void debug(std::string_view message, Fields fields = {}) {
  write(Level::kDebug, message, fields);
}
inline void info(std::string_view message, Fields fields = {}) {
  write(Level::kInfo, message, fields);
}
inline void warn(std::string_view message, Fields fields = {}) {
  write(Level::kWarn, message, fields);
}
inline void error(std::string_view message, Fields fields = {}) {
  write(Level::kError, message, fields);
}

void set_level(Level level);
void set_format(Format format);
// Sends whole lines elsewhere; an empty function restores standard error. For tests.
void set_sink(std::function<void(std::string_view)> sink);

}  // namespace paddle::log
