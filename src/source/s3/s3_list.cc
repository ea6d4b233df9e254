// SPDX-License-Identifier: Apache-2.0
#include "source/s3/s3_list.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "source/path_rules.h"
#include "source/s3/xml.h"

namespace paddle::source {
namespace {

using Token = XmlReader::Token;

Error bad(std::string what) { return Error{Code::kInvalid, "the listing " + std::move(what)}; }

// The text of the element that was just opened, up to its end; elements within are skipped.
Result<std::string> text_of_element(XmlReader& xml) {
  const std::size_t depth = xml.depth();
  std::string text;
  for (;;) {
    TRY(const Token token, xml.next());
    if (token == Token::kText && xml.depth() == depth) text += xml.value();
    if (token == Token::kClose && xml.depth() < depth) return text;
  }
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::string> url_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? digit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? digit(text[i + 2]) : -1;
    if (high < 0 || low < 0) return bad("has a key that is not encoded correctly");
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

std::string_view without_quotes(std::string_view etag) {
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') {
    return etag.substr(1, etag.size() - 2);
  }
  return etag;
}

struct Entry {
  S3Object object{};
  bool latest = true;
};

// An object, a version or a delete marker; the latter has neither size nor etag.
Result<Entry> parse_entry(XmlReader& xml, bool marker) {
  const std::size_t depth = xml.depth();
  Entry entry;
  S3Object& object = entry.object;
  bool sized = marker;
  for (;;) {
    TRY(const Token token, xml.next());
    if (token == Token::kClose && xml.depth() < depth) break;
    if (token != Token::kOpen) continue;
    const std::string field(xml.name());
    TRY(std::string text, text_of_element(xml));
    if (field == "Key") {
      object.key = std::move(text);
    } else if (field == "ETag") {
      object.etag = without_quotes(text);
    } else if (field == "VersionId") {
      if (is_version_id(text)) object.version_id = std::move(text);
    } else if (field == "IsLatest") {
      entry.latest = text == "true";
    } else if (field == "LastModified") {
      TRY(object.modified, parse_rfc3339(text));
    } else if (field == "Size") {
      const auto* end = text.data() + text.size();
      const auto parsed = std::from_chars(text.data(), end, object.size);
      sized = parsed.ec == std::errc{} && parsed.ptr == end && object.size <= INT64_MAX;
      if (!sized) return bad("has an object whose size is not a number");
    }
  }
  if (object.key.empty() || !sized) return bad("has an object without a key or a size");
  return entry;
}

}  // namespace

Result<S3Page> parse_s3_page(std::string_view text) {
  XmlReader xml(text);
  TRY(const Token first, xml.next());
  const bool versions = first == Token::kOpen && xml.name() == "ListVersionsResult";
  if (first != Token::kOpen || (!versions && xml.name() != "ListBucketResult")) {
    return bad("is another document");
  }
  S3Page page;
  std::vector<std::string> keys;  // of all entries
  std::vector<bool> shown;        // whether they are in the page
  std::string encoding;
  for (;;) {
    TRY(const Token token, xml.next());
    if (token == Token::kEnd) break;
    if (token != Token::kOpen) continue;
    const std::string field(xml.name());
    const bool marker = versions && field == "DeleteMarker";
    if (marker || field == (versions ? "Version" : "Contents")) {
      TRY(Entry entry, parse_entry(xml, marker));
      keys.push_back(entry.object.key);
      shown.push_back(entry.latest && !marker);
      if (shown.back()) page.objects.push_back(std::move(entry.object));
      continue;
    }
    TRY(std::string value, text_of_element(xml));
    if (field == "IsTruncated") {
      page.truncated = value == "true";
    } else if (field == (versions ? "NextKeyMarker" : "NextContinuationToken")) {
      page.next = std::move(value);
    } else if (field == "NextVersionIdMarker" && versions) {
      page.next_version = std::move(value);
    } else if (field == "EncodingType") {
      encoding = std::move(value);
    }
  }
  if (encoding == "url") {
    for (std::string& key : keys) {
      TRY(key, url_decoded(key));
    }
    if (versions) {
      TRY(page.next, url_decoded(page.next));
    }
  } else if (!encoding.empty()) {
    return bad("has an unknown encoding");
  }
  if (page.truncated && page.next.empty()) return bad("is truncated without a continuation token");
  if (keys.empty()) return page;
  page.first_key = keys.front();
  page.last_key = keys.back();
  for (std::size_t i = 1; i < keys.size() && page.sorted; ++i) {
    page.sorted = versions ? keys[i - 1] <= keys[i] : keys[i - 1] < keys[i];
  }
  for (std::size_t i = 0, at = 0; i < keys.size(); ++i) {
    if (shown[i]) page.objects[at++].key = std::move(keys[i]);
  }
  return page;
}

std::string s3_error_code(std::string_view text) {
  XmlReader xml(text);
  for (;;) {
    const auto token = xml.next();
    if (!token || *token == Token::kEnd) return {};
    if (*token != Token::kOpen || xml.name() != "Code") continue;
    const auto code = text_of_element(xml);
    if (!code || code->size() > 64) return {};
    const bool plain = std::all_of(code->begin(), code->end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    });
    return plain ? *code : std::string();
  }
}

}  // namespace paddle::source
