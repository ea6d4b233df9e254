// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/target.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace paddle::local {
namespace {

std::optional<std::string> decode(std::string_view text, bool plus_is_space) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      unsigned value = 0;
      if (i + 2 >= text.size()) return std::nullopt;
      const char* end = text.data() + i + 3;
      const auto parsed = std::from_chars(text.data() + i + 1, end, value, 16);
      if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
      c = static_cast<char>(value);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    out += c;
  }
  return out;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; }

bool is_good_segment(const std::string& text) {
  return !text.empty() && text != "." && text != ".." &&
         std::ranges::none_of(text, [](char c) { return c == '/' || is_control(c); });
}

Error bad(std::string_view what) {
  return {Code::kInvalid, "the request's " + std::string(what) + " is invalid"};
}

template <typename Take>
bool split(std::string_view text, char separator, Take take) {
  while (true) {
    const auto at = text.find(separator);
    if (!take(text.substr(0, at))) return false;
    if (at == std::string_view::npos) return true;
    text.remove_prefix(at + 1);
  }
}

}  // namespace

std::string Target::operator[](const std::string& name) const {
  const auto found = query.find(name);
  return found == query.end() ? std::string{} : found->second;
}

bool Target::is_true(const std::string& name) const {
  const auto found = query.find(name);
  if (found == query.end()) return false;
  return found->second != "false" && found->second != "0";
}

Result<Target> parse_target(std::string_view text) {
  if (!text.starts_with('/')) return bad("target");
  text = text.substr(0, text.find('#'));
  const auto question = text.find('?');
  std::string_view path = text.substr(1, question == text.npos ? text.npos : question - 1);
  if (path.ends_with('/')) path.remove_suffix(1);

  Target made;
  const bool good_path = path.empty() || split(path, '/', [&](std::string_view part) {
                           auto segment = decode(part, false);
                           if (!segment || !is_good_segment(*segment)) return false;
                           made.path.push_back(*std::move(segment));
                           return true;
                         });
  if (!good_path) return bad("path");
  if (question == text.npos) return made;
  const bool good_query = split(text.substr(question + 1), '&', [&](std::string_view part) {
    if (part.empty()) return true;
    const auto equal = part.find('=');
    auto name = decode(part.substr(0, equal), true);
    auto value = decode(equal == part.npos ? std::string_view{} : part.substr(equal + 1), true);
    if (!name || !value || std::ranges::any_of(*value, is_control)) return false;
    made.query.try_emplace(*std::move(name), *std::move(value));
    return true;
  });
  if (!good_query) return bad("query");
  return made;
}

}  // namespace paddle::local
