// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/metadata_url.h"

#include <algorithm>

#include "engine/juicefs/text.h"

namespace paddle::engine::juicefs {
namespace {

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
  if (!takes_a_password(url.substr(0, head - 3))) {
    if (!holds_password(url.substr(head))) return read;
    return Error{
        Code::kInvalid,
        "metaurl holds a password that JuiceFS takes only on its command line, where every "
        "process can read it; use redis, mysql or postgres, or a user without a password"};
  }
  const std::size_t at = url.rfind('@');
  const std::string userinfo = at == url.npos || at < head ? "" : url.substr(head, at - head);
  const std::size_t colon = userinfo.find(':');
  const std::string user = userinfo.substr(0, colon);
  const std::string rest = userinfo.empty() ? url.substr(head) : url.substr(at + 1);
  if (colon != userinfo.npos && colon + 1 < userinfo.size()) {
    const auto decoded = percent_decoded(userinfo.substr(colon + 1));
    if (!decoded) {
      return Error{Code::kInvalid,
                   "metaurl has a password with a '%' that is not followed by two hexadecimal "
                   "digits; write it as %25"};
    }
    read.password = *decoded;
    read.bare = url.substr(0, head) + user + (user.empty() ? "" : "@") + rest;
  } else if (!password.empty()) {
    read.password = password;
    read.whole = url.substr(0, head) + user + ":" + percent_encoded(password) + "@" + rest;
  }
  return read;
}

}  // namespace paddle::engine::juicefs
