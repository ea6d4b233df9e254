// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/command/source_access.h"

#include <algorithm>
#include <string_view>

#include "api/source_schemes.h"
#include "engine/juicefs/source_check.h"

namespace paddle::engine::juicefs {
namespace {

Error wrong(std::string reason) { return {Code::kInvalid, std::move(reason)}; }

struct Parts {
  std::string scheme{};
  std::string host{};
  std::string path{};  // with its slash, or empty
};

Parts parts_of(const std::string& uri) {
  Parts parts;
  const std::size_t mark = uri.find("://");
  parts.scheme = uri.substr(0, mark);
  const std::string rest = uri.substr(mark + 3);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  parts.host = rest.substr(0, slash);
  parts.path = rest.substr(slash);
  return parts;
}

void set(std::vector<std::string>& env, std::string_view name, const std::string& value) {
  if (!name.empty() && !value.empty()) env.push_back(std::string(name) + "=" + value);
}

Result<> add_keys(const Parts& parts, const api::CredentialVariables& variables,
                  const SecretValues& secret, SourceAccess& access) {
  const std::string key = value_of(secret, "access-key");
  const std::string secret_key = value_of(secret, "secret-key");
  const std::string token = value_of(secret, "session-token");
  // A secret-key alone is not for a source; it may be the password of a volume with data in Redis.
  if (key.empty()) {
    if (parts.scheme == "minio") {
      return wrong(
          "a minio:// source needs access-key and secret-key in its Secret; a public bucket is "
          "read with s3://BUCKET.HOST:PORT/PREFIX");
    }
    return Done{};
  }
  if (variables.access_key.empty()) {
    return wrong("JuiceFS takes the keys of a " + parts.scheme +
                 ":// source only on its command line, where every process can read them; use "
                 "s3://BUCKET.ENDPOINT/PREFIX if the storage speaks S3 too, or a Secret without "
                 "keys");
  }
  if (!token.empty() && variables.session_token.empty()) {
    return wrong("JuiceFS takes the session-token of a " + parts.scheme +
                 ":// source only on its command line, where every process can read it; use keys "
                 "that need none");
  }
  set(access.env, variables.access_key, key);
  set(access.env, variables.secret_key, secret_key);
  set(access.env, variables.session_token, token);
  return Done{};
}

}  // namespace

Result<SourceAccess> source_access(const std::string& uri, const SecretValues& secret) {
  CHECK_DONE(check_source(uri));
  const api::SourceScheme* scheme = api::scheme_of(uri);  // check_source() knows it
  Parts parts = parts_of(uri);
  SourceAccess access;

  std::string endpoint = value_of(secret, "endpoint");
  access.no_https = endpoint.starts_with("http://");
  if (const auto mark = endpoint.find("://"); mark != endpoint.npos) endpoint.erase(0, mark + 3);
  endpoint = endpoint.substr(0, endpoint.find('/'));
  const bool only_a_bucket = parts.host.find_first_of(".:") == parts.host.npos;
  if (!endpoint.empty() && only_a_bucket && scheme->bucket_and_endpoint) {
    parts.host += "." + endpoint;
  }
  CHECK_DONE(add_keys(parts, scheme->variables, secret, access));
  const bool anonymous = parts.scheme == "s3" && access.env.empty();
  access.uri = parts.scheme + "://" + (anonymous ? "anonymous:@" : "") + parts.host + parts.path;
  set(access.env, scheme->variables.region, value_of(secret, "region"));
  return access;
}

}  // namespace paddle::engine::juicefs
