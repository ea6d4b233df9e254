// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/metadata_url.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "api/schema/pattern.h"
#include "api/source_schemes.h"
#include "engine/juicefs/secret_text.h"

namespace paddle::engine::juicefs {
namespace {

// Parameters that users need. None names a file or lets the server read one (MySQL's
// allowAllFiles).
constexpr auto kParameters = std::to_array<std::string_view>({"insecure-skip-verify",
                                                              "min-retry-backoff",
                                                              "max-retry-backoff",
                                                              "read-timeout",
                                                              "write-timeout",
                                                              "route-read",
                                                              "db",
                                                              "protocol",
                                                              "client_name",
                                                              "max_retries",
                                                              "min_retry_backoff",
                                                              "max_retry_backoff",
                                                              "dial_timeout",
                                                              "read_timeout",
                                                              "write_timeout",
                                                              "pool_fifo",
                                                              "pool_size",
                                                              "pool_timeout",
                                                              "min_idle_conns",
                                                              "max_idle_conns",
                                                              "max_active_conns",
                                                              "conn_max_idle_time",
                                                              "conn_max_lifetime",  // Redis
                                                              "charset",
                                                              "collation",
                                                              "timeout",
                                                              "readTimeout",
                                                              "writeTimeout",
                                                              "parseTime",
                                                              "tls",
                                                              "maxAllowedPacket",
                                                              "interpolateParams",  // MySQL
                                                              "sslmode",
                                                              "search_path",
                                                              "connect_timeout",
                                                              "statement_timeout",  // PostgreSQL
                                                              "max_open_conns",
                                                              "max_idle_time",
                                                              "max_life_time",  // JuiceFS's own
                                                              "verify-cn",
                                                              "gc-interval",
                                                              "server-name"});  // TiKV, etcd

// Whether JuiceFS's client of this server reads META_PASSWORD.
bool takes_a_password(const std::string& scheme) {
  return scheme == "redis" || scheme == "rediss" || scheme == "mysql" || scheme == "postgres";
}

}  // namespace

Result<MetadataUrl> read_metadata_url(std::string url, const std::string& password) {
  if (url.find("://") == url.npos) url = "redis://" + url;
  const auto odd = [](unsigned char c) { return c <= ' ' || c == 0x7f; };
  // A text that begins with '-' would be an option of juicefs.
  if (!api::matches_pattern(url.substr(0, url.find("://")), "^[a-z0-9+]+$") ||
      std::any_of(url.begin(), url.end(), odd)) {
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

Result<> check_metadata_url(const std::string& bare) {
  const std::size_t mark = bare.find("://");
  const std::string scheme = bare.substr(0, mark);
  const auto server =
      std::ranges::find(api::kMetadataServers, scheme, &api::MetadataServer::scheme);
  if (mark == bare.npos || server == api::kMetadataServers.end()) {
    return Error{Code::kInvalid,
                 "has a 'metaurl' of another kind than redis and rediss: others are files of one "
                 "node"};
  }
  const std::size_t query = bare.find('?');
  for (std::size_t at = query == bare.npos ? bare.size() : query + 1; at < bare.size();) {
    const std::size_t end = std::min(bare.find_first_of("&;", at), bare.size());
    const std::string name = bare.substr(at, std::min(bare.find('=', at), end) - at);
    at = end + 1;
    if (std::find(kParameters.begin(), kParameters.end(), name) != kParameters.end()) continue;
    const bool plain = name.size() <= 64 && api::matches_pattern(name, "^[A-Za-z0-9_.-]+$");
    return Error{Code::kInvalid, "has a 'metaurl' with the parameter " +
                                     (plain ? name : std::string("of that name")) +
                                     ", which is not passed on to JuiceFS; remove it"};
  }
  if (server->built) return Done{};
  return Error{Code::kInvalid, "has a 'metaurl' with " + scheme +
                                   "://, which the JuiceFS of our images is built without; use "
                                   "redis, or build images with it (docs/en/sampleset.md, 'What "
                                   "our JuiceFS can reach')"};
}

}  // namespace paddle::engine::juicefs
