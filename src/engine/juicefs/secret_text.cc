// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/secret_text.h"

#include <algorithm>

namespace paddle::engine::juicefs {
namespace {

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

std::string trimmed(const std::string& text) {
  const auto blank = [](unsigned char c) { return c <= ' '; };
  const auto begin = std::find_if_not(text.begin(), text.end(), blank);
  const auto end = std::find_if_not(text.rbegin(), text.rend(), blank).base();
  return begin < end ? std::string(begin, end) : std::string();
}

bool is_one_line(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

bool holds_password(std::string_view address) {
  const std::size_t at = address.find('@');
  if (at == address.npos) return false;
  const std::size_t slash = address.find('/');
  const std::string_view before = address.substr(0, std::min(at, slash));
  std::size_t colon = before.find(':', before.starts_with('[') ? before.find(']') : 0);
  if (colon == before.npos) return false;
  if (at < slash) return colon + 1 < at;
  // "host:9000/a@b" or "user:wo/rd@host"
  for (; colon != before.npos; colon = before.find(':', colon + 1)) {
    const std::size_t end = before.find_first_not_of("0123456789", colon + 1);
    if (end != before.npos && before[end] != ',' && before[end] != ')') return true;
  }
  return false;
}

std::optional<std::string> percent_decoded(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    if (i + 2 >= text.size() || hex(text[i + 1]) < 0 || hex(text[i + 2]) < 0) return std::nullopt;
    plain += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
    i += 2;
  }
  return plain;
}

std::string percent_encoded(const std::string& text) {
  constexpr const char* kDigits = "0123456789ABCDEF";
  std::string safe;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      safe += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      safe += {'%', kDigits[byte / 16], kDigits[byte % 16]};
    }
  }
  return safe;
}

}  // namespace paddle::engine::juicefs
