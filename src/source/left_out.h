// SPDX-License-Identifier: Apache-2.0
//
// Objects of a source that a sample set cannot show: their number, and the first few by name with
// the reason. Names are untrusted (anyone with write access to the source chooses them): in
// examples they are quoted, short and printable, so that examples are safe in logs, events and
// terminals. Pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paddle::source {

// The name in quotes. Unprintable bytes become \xNN; a long name is cut and ends with "...".
std::string shown_name(std::string_view name);
// True if shown_name() would not change the text.
bool is_printable(std::string_view text);
// The path as it is if it is printable and has at most 300 bytes, otherwise as shown_name() without
// quotes.
std::string shown_path(std::string_view path);

struct LeftOut {
  static constexpr std::size_t kMostExamples = 20;
  static constexpr std::size_t kLongestExample = 300;  // bytes

  std::uint64_t count = 0;
  std::vector<std::string> examples{};  // "'a//b' (an empty part)"

  void add(std::string_view name, std::string_view why);
  void add(const LeftOut& others);
  bool operator==(const LeftOut&) const = default;
};

}  // namespace paddle::source
