// SPDX-License-Identifier: Apache-2.0
#include "source/s3/xml.h"

#include <charconv>
#include <cstdint>
#include <utility>

namespace paddle::source {
namespace {

Error bad(const char* what) {
  return Error{Code::kInvalid, std::string("the answer is not well-formed XML: ") + what};
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string_view skip_space(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  return text;
}

// A name ends at a space or at the end of the tag; it is only compared.
std::string_view take_name(std::string_view& text) {
  std::size_t size = 0;
  while (size < text.size() && !is_space(text[size]) && text[size] != '>' && text[size] != '/' &&
         text[size] != '=' && text[size] != '<') {
    ++size;
  }
  const auto name = text.substr(0, size);
  text.remove_prefix(size);
  return name;
}

std::string_view local(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

bool append_utf8(std::string& text, std::uint32_t point) {
  if (point == 0 || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return false;
  const auto tail = [&](unsigned shift) {
    text += static_cast<char>(0x80 | ((point >> shift) & 0x3f));
  };
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xc0 | (point >> 6));
    tail(0);
  } else if (point < 0x10000) {
    text += static_cast<char>(0xe0 | (point >> 12));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xf0 | (point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
  return true;
}

bool append_entity(std::string& text, std::string_view entity) {
  if (entity == "amp") return text += '&', true;
  if (entity == "lt") return text += '<', true;
  if (entity == "gt") return text += '>', true;
  if (entity == "quot") return text += '"', true;
  if (entity == "apos") return text += '\'', true;
  if (!entity.starts_with('#')) return false;
  entity.remove_prefix(1);
  const int base = entity.starts_with('x') ? 16 : 10;
  if (base == 16) entity.remove_prefix(1);
  std::uint32_t point = 0;
  const auto* end = entity.data() + entity.size();
  const auto parsed = std::from_chars(entity.data(), end, point, base);
  return parsed.ec == std::errc{} && parsed.ptr == end && append_utf8(text, point);
}

}  // namespace

Result<std::string> decode_xml(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  while (!text.empty()) {
    const std::size_t mark = text.find('&');
    decoded += text.substr(0, mark);
    if (mark == std::string_view::npos) break;
    text.remove_prefix(mark + 1);
    const std::size_t end = text.substr(0, 12).find(';');
    if (end == std::string_view::npos || !append_entity(decoded, text.substr(0, end))) {
      return bad("an unknown entity");
    }
    text.remove_prefix(end + 1);
  }
  return decoded;
}

Result<XmlReader::Token> XmlReader::next() {
  if (pending_close_) {
    pending_close_ = false;
    name_ = local(open_.back());
    open_.pop_back();
    return Token::kClose;
  }
  for (;;) {
    if (open_.empty()) rest_ = skip_space(rest_);
    if (rest_.empty()) {
      if (!open_.empty()) return bad("it ends too early");
      if (!seen_root_) return bad("it is empty");
      return Token::kEnd;
    }
    if (rest_.front() != '<') return text();
    if (rest_.starts_with("<![CDATA[")) return text();
    TRY(const bool aside, skip_aside());
    if (!aside) return tag();
  }
}

// Comments and processing instructions.
Result<bool> XmlReader::skip_aside() {
  for (const auto& [begin, end] : {std::pair<std::string_view, std::string_view>{"<!--", "-->"},
                                   std::pair<std::string_view, std::string_view>{"<?", "?>"}}) {
    if (!rest_.starts_with(begin)) continue;
    const std::size_t at = rest_.find(end, begin.size());
    if (at == std::string_view::npos) return bad("a comment does not end");
    rest_.remove_prefix(at + end.size());
    return true;
  }
  if (rest_.starts_with("<!")) return bad("a document type is not accepted");
  return false;
}

Result<XmlReader::Token> XmlReader::text() {
  if (open_.empty()) return bad("text outside of the document");
  if (rest_.starts_with("<![CDATA[")) {
    const std::size_t end = rest_.find("]]>");
    if (end == std::string_view::npos) return bad("a CDATA section does not end");
    value_ = rest_.substr(9, end - 9);
    rest_.remove_prefix(end + 3);
    return Token::kText;
  }
  const std::size_t end = rest_.find('<');
  if (end == std::string_view::npos) return bad("it ends too early");
  TRY(value_, decode_xml(rest_.substr(0, end)));
  rest_.remove_prefix(end);
  return Token::kText;
}

Result<XmlReader::Token> XmlReader::tag() {
  rest_.remove_prefix(1);
  const bool closing = rest_.starts_with('/');
  if (closing) rest_.remove_prefix(1);
  const auto name = take_name(rest_);
  if (name.empty()) return bad("a tag without a name");
  if (closing) {
    rest_ = skip_space(rest_);
    if (!rest_.starts_with('>')) return bad("a tag does not end");
    rest_.remove_prefix(1);
    if (open_.empty() || open_.back() != name) return bad("tags do not match");
    open_.pop_back();
    name_ = local(name);
    return Token::kClose;
  }
  if (open_.empty() && std::exchange(seen_root_, true)) return bad("more than one document");
  if (open_.size() == kMaxDepth) return bad("it is nested too deeply");
  CHECK_DONE(skip_attributes(pending_close_));
  open_.push_back(name);
  name_ = local(name);
  return Token::kOpen;
}

Result<> XmlReader::skip_attributes(bool& closed) {
  for (;;) {
    rest_ = skip_space(rest_);
    closed = rest_.starts_with("/>");
    if (closed || rest_.starts_with('>')) {
      rest_.remove_prefix(closed ? 2 : 1);
      return Done{};
    }
    if (take_name(rest_).empty()) return bad("an attribute without a name");
    rest_ = skip_space(rest_);
    if (!rest_.starts_with('=')) return bad("an attribute without a value");
    rest_ = skip_space(rest_.substr(1));
    if (!rest_.starts_with('"') && !rest_.starts_with('\'')) return bad("a value without quotes");
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) return bad("a value does not end");
    rest_.remove_prefix(end + 1);
  }
}

}  // namespace paddle::source
