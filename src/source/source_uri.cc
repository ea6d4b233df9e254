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

bool is_bucket(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  };
  return name.size() >= 3 && name.size() <= 63 && name.front() != '.' && name.front() != '-' &&
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

Result<SourceUri> parse_s3(std::string_view rest) {
  const std::size_t slash = rest.find('/');
  const auto bucket = rest.substr(0, slash);
  if (bucket.find('@') != std::string_view::npos || bucket.find(':') != std::string_view::npos) {
    return invalid("credentials and ports do not belong in a source URI: use a Secret");
  }
  if (!is_bucket(bucket)) return invalid("an s3:// source needs a bucket name: s3://bucket/prefix");
  S3Uri uri{.bucket = std::string(bucket), .prefix = {}};
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
        return parse_s3(rest);
      case api::SamplefsClient::kNone:
        break;
    }
  }
  return invalid("a source URI begins with one of " + api::samplefs_schemes());
}

std::string to_string(const SourceUri& uri) {
  return std::visit(Match{
                        [](const DirectoryUri& directory) { return "file://" + directory.path; },
                        [](const S3Uri& s3) { return "s3://" + s3.bucket + "/" + s3.prefix; },
                    },
                    uri);
}

}  // namespace paddle::source
