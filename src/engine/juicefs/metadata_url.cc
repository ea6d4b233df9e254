// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/metadata_url.h"

#include <algorithm>
#include <optional>

namespace paddle::engine::juicefs {
namespace {

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
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

// Those whose client takes META_PASSWORD.
bool takes_a_password(const std::string& scheme) {
  return scheme == "redis" || scheme == "rediss" || scheme == "mysql" || scheme == "postgres";
}

}  // namespace

Result<MetadataUrl> read_metadata_url(std::string url, const std::string& password) {
  if (url.find("://") == url.npos) url = "redis://" + url;
  const auto odd = [](unsigned char c) { return c <= ' ' || c == 0x7f; };
  if (url.starts_with("://") || std::any_of(url.begin(), url.end(), odd)) {
    return Error{Code::kInvalid, "metaurl is not a URL such as redis://:password@host:6379/0"};
  }
  MetadataUrl read{.bare = url, .whole = url};
  const std::size_t head = url.find("://") + 3;
  if (!takes_a_password(url.substr(0, head - 3))) return read;
  const std::size_t at = url.rfind('@');
  const std::string userinfo = at == url.npos || at < head ? "" : url.substr(head, at - head);
  const std::size_t colon = userinfo.find(':');
  const std::string user = userinfo.substr(0, colon);
  const std::string rest = userinfo.empty() ? url.substr(head) : url.substr(at + 1);
  if (colon != userinfo.npos && colon + 1 < userinfo.size()) {
    const auto decoded = percent_decoded(userinfo.substr(colon + 1));
    // JuiceFS would not read it either way.
    if (!decoded || user.find(':') != user.npos) return read;
    read.password = *decoded;
    read.bare = url.substr(0, head) + user + (user.empty() ? "" : "@") + rest;
  } else if (!password.empty()) {
    read.password = password;
    read.whole = url.substr(0, head) + user + ":" + percent_encoded(password) + "@" + rest;
  }
  return read;
}

}  // namespace paddle::engine::juicefs
