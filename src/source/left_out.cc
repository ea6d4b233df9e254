// SPDX-License-Identifier: Apache-2.0
#include "source/left_out.h"

#include <algorithm>
#include <cstdio>

namespace paddle::source {
namespace {

constexpr std::size_t kLongestName = 80;  // as shown, without quotes

// Characters that change how the text around them is shown, or that cannot be seen.
bool is_hidden(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || (c >= 0x200b && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
         (c >= 0xd800 && c <= 0xf8ff) || c == 0xfeff || (c >= 0xfff0 && c <= 0xffff) ||
         c >= 0xe0000;
}

// Length of the visible UTF-8 character at the start of the text; 0 if there is none.
std::size_t visible(std::string_view text) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const std::uint32_t lead = byte(0);
  const std::size_t size = lead < 0x80   ? 1
                           : lead < 0xc2 ? 0
                           : lead < 0xe0 ? 2
                           : lead < 0xf0 ? 3
                                         : 4;
  if (size == 0 || lead > 0xf4 || size > text.size()) return 0;
  std::uint32_t c = size == 1 ? lead : lead & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    c = c << 6 | (byte(i) & 0x3f);
  }
  const bool longer_than_needed = (size == 3 && c < 0x800) || (size == 4 && c < 0x10000);
  return longer_than_needed || is_hidden(c) ? 0 : size;
}

}  // namespace

std::string shown_name(std::string_view name) {
  std::string shown = "'";
  while (!name.empty()) {
    if (shown.size() > kLongestName) {
      shown += "...";
      break;
    }
    const std::size_t size = visible(name);
    if (size > 0) {
      shown.append(name.substr(0, size));
      name.remove_prefix(size);
      continue;
    }
    char escaped[5];
    std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned char>(name.front()));
    shown += escaped;
    name.remove_prefix(1);
  }
  return shown + "'";
}

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = visible(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string shown_path(std::string_view path) {
  if (path.size() <= LeftOut::kLongestExample && is_printable(path)) return std::string(path);
  const std::string quoted = shown_name(path);
  return quoted.substr(1, quoted.size() - 2);
}

void LeftOut::add(std::string_view name, std::string_view why) {
  ++count;
  if (examples.size() >= kMostExamples) return;
  examples.push_back(shown_name(name) + " (" + std::string(why) + ")");
}

void LeftOut::add(const LeftOut& others) {
  count += others.count;
  for (const std::string& each : others.examples) {
    if (examples.size() >= kMostExamples) return;
    examples.push_back(each);
  }
}

}  // namespace paddle::source
