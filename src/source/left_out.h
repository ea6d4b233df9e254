// SPDX-License-Identifier: Apache-2.0
//
// What a source has and a set of samples cannot show: how many, and the first few by name with the
// reason. Names come from whoever can write to the source: in an example they are quoted, short and
// printable, so that it can go into logs, events and terminals as it is. Pure values.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paddle::source {

// The name in quotes. What is not printable is shown as \xNN; of a long name the begin and "...".
std::string shown_name(std::string_view name);
// Whether all of a text is what shown_name() leaves as it is.
bool is_printable(std::string_view text);

struct LeftOut {
  static constexpr std::size_t kMostExamples = 5;
  static constexpr std::size_t kLongestExample = 300;  // bytes

  std::uint64_t count = 0;
  std::vector<std::string> examples{};  // "'a//b' (an empty part)"

  void add(std::string_view name, std::string_view why);
  void add(const LeftOut& others);
  bool operator==(const LeftOut&) const = default;
};

}  // namespace paddle::source
