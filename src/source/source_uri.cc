// SPDX-License-Identifier: Apache-2.0
#include "source/source_uri.h"

#include <algorithm>

#include "api/source_schemes.h"
#include "base/match.h"
#include "source/path_rules.h"

namespace paddle::source {
namespace {

Error invalid(std::string message) { return Error{Code::kInvalid, std::move(message)}; }

std::string_view without_trailing_slashes(std::string_view text) {
  while (text.ends_with('/')) text.remove_suffix(1);
  return text;
}

constexpr std::size_t kLongestBucket = 63;

// The name of a bucket, or one with an endpoint.
bool is_bucket(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  };
  return name.size() >= 3 && name.size() <= 255 && name.front() != '.' && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), allowed);
}

Result<SourceUri> parse_directory(std::string_view rest) {
  if (!rest.starts_with('/')) {
    return invalid("a file:// source needs an absolute path and no host: file:///path");
  }
  const auto path = without_trailing_slashes(rest.substr(1));
  if (path.empty()) return invalid("a file:// source cannot be the root directory");
  if (!is_path(path)) return invalid("a file:// source has a component that is empty, . or ..");
  return SourceUri{DirectoryUri{.path = "/" + std::string(path)}};
}

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_ipv4(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == ':'; });
}

Result<SourceUri> parse_bucket(std::string_view rest, Store store) {
  const std::string scheme = store == Store::kBos ? "bos" : "s3";
  const std::size_t slash = rest.find('/');
  const auto authority = rest.substr(0, slash);
  const std::size_t colon = authority.find(':');
  const auto host = authority.substr(0, colon);
  const bool port = colon != authority.npos && host.find('.') != host.npos &&
                    is_port(authority.substr(colon + 1));
  if (authority.find('@') != authority.npos || (colon != authority.npos && !port)) {
    return invalid(
        "credentials do not belong in a source URI, and a port only after an endpoint (" + scheme +
        "://bucket.host:9000/prefix): use a Secret");
  }
  if (!is_bucket(host)) {
    return invalid("a source at " + scheme + ":// needs a bucket name: " + scheme +
                   "://bucket/prefix or " + scheme + "://bucket.endpoint/prefix");
  }
  S3Uri uri{.bucket = std::string(authority), .prefix = {}, .store = store};
  if (slash == std::string_view::npos) return SourceUri{std::move(uri)};
  const auto prefix = without_trailing_slashes(rest.substr(slash + 1));
  if (prefix.empty()) return SourceUri{std::move(uri)};
  if (!is_path(prefix)) return invalid("the prefix has a component that is empty, . or ..");
  uri.prefix = std::string(prefix) + "/";
  return SourceUri{std::move(uri)};
}

}  // namespace

Result<SourceUri> parse_source_uri(std::string_view text) {
  const bool clean = std::none_of(text.begin(), text.end(),
                                  [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (!clean) return invalid("a source URI contains control characters");
  if (const api::SourceScheme* scheme = api::scheme_of(text)) {
    const std::string_view rest = text.substr(scheme->name.size() + 3);
    switch (scheme->samplefs) {
      case api::SamplefsClient::kDirectory:
        return parse_directory(rest);
      case api::SamplefsClient::kS3:
        return parse_bucket(rest, Store::kS3);
      case api::SamplefsClient::kBos:
        return parse_bucket(rest, Store::kBos);
      case api::SamplefsClient::kNone:
        break;
    }
  }
  return invalid("a source URI begins with one of " + api::samplefs_schemes());
}

std::string to_string(const SourceUri& uri) {
  return std::visit(Match{
                        [](const DirectoryUri& directory) { return "file://" + directory.path; },
                        [](const S3Uri& it) {
                          return (it.store == Store::kBos ? "bos://" : "s3://") + it.bucket + "/" +
                                 it.prefix;
                        },
                    },
                    uri);
}

Result<BucketAddress> resolve(const S3Uri& uri, const std::string& secret_endpoint) {
  BucketAddress address{.uri = uri, .endpoint = secret_endpoint};
  const std::size_t dot = uri.bucket.find('.');
  const bool in_uri =
      dot != uri.bucket.npos && (secret_endpoint.empty() || uri.store == Store::kBos);
  if (in_uri) {
    address.uri.bucket = uri.bucket.substr(0, dot);
    address.endpoint = uri.bucket.substr(dot + 1);
  }
  if (!is_bucket(address.uri.bucket) || address.uri.bucket.size() > kLongestBucket) {
    return invalid("the source names no bucket before its endpoint");
  }
  if (address.endpoint.empty()) {
    if (uri.store == Store::kS3) return address;
    return invalid(
        "a bos:// source needs the endpoint of its region: bos://bucket.bj.bcebos.com/prefix, or "
        "'endpoint' in the source's Secret");
  }
  if (address.endpoint.find("://") == std::string::npos) {
    address.endpoint = (is_ipv4(address.endpoint) ? "http://" : "https://") + address.endpoint;
  }
  constexpr std::string_view kAws = ".amazonaws.com";
  constexpr std::string_view kStart = "https://s3.";
  if (address.endpoint == "https://s3.amazonaws.com") {
    address.endpoint.clear();
  } else if (address.endpoint.starts_with(kStart) && address.endpoint.ends_with(kAws)) {
    address.region = address.endpoint.substr(kStart.size(),
                                             address.endpoint.size() - kStart.size() - kAws.size());
  }
  return address;
}

}  // namespace paddle::source
