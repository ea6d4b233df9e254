// SPDX-License-Identifier: Apache-2.0
//
// resourceVersions as numbers. Kubernetes promises that those of one resource grow with every
// change and may be compared; a text that is not a number is "not comparable" and the watch alone
// decides.

#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace paddle::kube {

using Version = std::uint64_t;
inline constexpr Version kNotComparable = 0;

inline Version parse_version(std::string_view text) {
  Version value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc{} && end == text.data() + text.size() ? value : kNotComparable;
}

}  // namespace paddle::kube
