// SPDX-License-Identifier: Apache-2.0
//
// What fields of a PaddleJob may say: for the schema, and for a controller whose API server has an
// older one.

#pragma once

#include <algorithm>
#include <iterator>
#include <string>

namespace paddle::api {

inline constexpr const char* kIntranets[] = {"", "PodIP", "Service", "Host"};
inline constexpr const char* kModes[] = {"", "PS", "Collective", "Single", "Custom"};

template <size_t N>
bool is_choice(const char* const (&choices)[N], const std::string& said) {
  return std::find(std::begin(choices), std::end(choices), said) != std::end(choices);
}

}  // namespace paddle::api
