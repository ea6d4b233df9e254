// SPDX-License-Identifier: Apache-2.0
#include "kube/events/aggregation/event_text.h"

#include <cstdio>

#include <xxhash.h>

namespace paddle::kube {
namespace {

bool continues(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// Length of the valid character at the front of `text`, or 0.
size_t character(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!continues(at(i))) return 0;
  }
  if ((lead == 0xE0 && at(1) < 0xA0) || (lead == 0xF0 && at(1) < 0x90)) return 0;  // overlong
  if ((lead == 0xED && at(1) >= 0xA0) || (lead == 0xF4 && at(1) >= 0x90))
    return 0;  // not a character
  return length;
}

}  // namespace

std::string clean_text(std::string_view text, size_t limit) {
  std::string clean;
  while (!text.empty()) {
    const size_t length = character(text);
    const size_t used = length == 0 ? 1 : length;
    if (clean.size() + used > limit) break;
    if (length == 0) {
      clean += '?';
    } else {
      clean += text.substr(0, length);
    }
    text.remove_prefix(used);
  }
  return clean;
}

std::string event_name(std::string_view object, std::string_view what) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx",
                static_cast<unsigned long long>(XXH3_64bits(what.data(), what.size())));
  std::string name(object.substr(0, 253 - 17));
  while (!name.empty() && (name.back() == '.' || name.back() == '-')) name.pop_back();
  return name + "." + digits;
}

}  // namespace paddle::kube
