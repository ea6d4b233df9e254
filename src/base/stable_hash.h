// SPDX-License-Identifier: Apache-2.0
//
// A hash that is the same in every run, on every machine, in every version: for names and
// identifiers that outlive the process. FNV-1a; not for input that an adversary chooses.

#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace paddle {

inline std::uint64_t stable_hash(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

inline std::string stable_hash_hex(std::string_view text) {  // 16 digits
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx",
                static_cast<unsigned long long>(stable_hash(text)));
  return digits;
}

}  // namespace paddle
