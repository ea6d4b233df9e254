// SPDX-License-Identifier: Apache-2.0
#include "engine/juicefs/node/command/source_access.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/juicefs/source_check.h"

namespace paddle::engine::juicefs {
namespace {

// Names of variables; empty: there is none.
struct Variables {
  std::string_view scheme{};
  std::string_view access_key{};
  std::string_view secret_key{};
  std::string_view session_token{};
  std::string_view region{};
};

constexpr auto kVariables = std::to_array<Variables>({
    {"bos", "BDCLOUD_ACCESS_KEY", "BDCLOUD_SECRET_KEY", "", "BDCLOUD_DEFAULT_REGION"},
    {"cos", "COS_SECRETID", "COS_SECRETKEY", "", ""},
    {"eos", "EOS_ACCESS_KEY", "EOS_SECRET_KEY", "EOS_TOKEN", ""},
    {"hdfs", "HADOOP_USER_NAME", "", "", ""},
    // Its own variables know no session token; without them it asks as s3 does.
    {"minio", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "MINIO_REGION"},
    {"obs", "HWCLOUD_ACCESS_KEY", "HWCLOUD_SECRET_KEY", "", "HWCLOUD_DEFAULT_REGION"},
    {"oss", "ALICLOUD_ACCESS_KEY_ID", "ALICLOUD_ACCESS_KEY_SECRET", "SECURITY_TOKEN",
     "ALICLOUD_REGION_ID"},
    {"s3", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION"},
    {"scw", "SCW_ACCESS_KEY", "SCW_SECRET_KEY", "", ""},
});

// Those whose URI is BUCKET.ENDPOINT/PREFIX.
constexpr auto kBucketAndEndpoint = std::to_array<std::string_view>(
    {"bos", "cos", "eos", "ks3", "obs", "oos", "oss", "s3", "scw", "space", "tos", "wasabi"});

template <typename List>
bool holds(const List& list, std::string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

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

Result<> add_keys(const Parts& parts, const SecretValues& secret, SourceAccess& access) {
  const std::string key = value_of(secret, "access-key");
  const std::string secret_key = value_of(secret, "secret-key");
  const std::string token = value_of(secret, "session-token");
  const auto* known =
      std::find_if(kVariables.begin(), kVariables.end(),
                   [&](const Variables& each) { return each.scheme == parts.scheme; });
  // A secret-key alone is nobody's: the password of a volume that keeps its data in Redis, say.
  if (key.empty()) {
    if (parts.scheme == "minio") {
      return wrong(
          "a minio:// source needs access-key and secret-key in its Secret; a public bucket is "
          "read with s3://BUCKET.HOST:PORT/PREFIX");
    }
    return Done{};
  }
  if (known == kVariables.end()) {
    return wrong("JuiceFS takes the keys of a " + parts.scheme +
                 ":// source only on its command line, where every process can read them; use "
                 "s3://BUCKET.ENDPOINT/PREFIX if the storage speaks S3 too, or a Secret without "
                 "keys");
  }
  if (!token.empty() && known->session_token.empty()) {
    return wrong("JuiceFS takes the session-token of a " + parts.scheme +
                 ":// source only on its command line, where every process can read it; use keys "
                 "that need none");
  }
  set(access.env, known->access_key, key);
  set(access.env, known->secret_key, secret_key);
  set(access.env, known->session_token, token);
  return Done{};
}

}  // namespace

Result<SourceAccess> source_access(const std::string& uri, const SecretValues& secret) {
  CHECK_DONE(check_source(uri));
  Parts parts = parts_of(uri);
  SourceAccess access;

  std::string endpoint = value_of(secret, "endpoint");
  access.no_https = endpoint.starts_with("http://");
  if (const auto mark = endpoint.find("://"); mark != endpoint.npos) endpoint.erase(0, mark + 3);
  endpoint = endpoint.substr(0, endpoint.find('/'));
  const bool only_a_bucket = parts.host.find_first_of(".:") == parts.host.npos;
  if (!endpoint.empty() && only_a_bucket && holds(kBucketAndEndpoint, parts.scheme)) {
    parts.host += "." + endpoint;
  }
  CHECK_DONE(add_keys(parts, secret, access));
  const bool anonymous = parts.scheme == "s3" && access.env.empty();
  access.uri = parts.scheme + "://" + (anonymous ? "anonymous:@" : "") + parts.host + parts.path;
  for (const auto& each : kVariables) {
    if (each.scheme == parts.scheme) set(access.env, each.region, value_of(secret, "region"));
  }
  return access;
}

}  // namespace paddle::engine::juicefs
