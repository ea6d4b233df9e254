// SPDX-License-Identifier: Apache-2.0
//
// The URI of a source, as written in a SampleSet. Pure.
//
//   file:///absolute/directory
//   s3://bucket            s3://bucket/some/prefix
//
// The text is used literally, without percent-decoding, as common S3 tools do. A prefix names a
// directory: "s3://b/a" covers a/x and not ab. Errors never repeat the text: it may contain
// secrets.

#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace paddle::source {

struct DirectoryUri {
  std::string path{};  // absolute, without a slash at the end
  bool operator==(const DirectoryUri&) const = default;
};

struct S3Uri {
  std::string bucket{};
  std::string prefix{};  // empty, or ending with '/'
  bool operator==(const S3Uri&) const = default;
};

using SourceUri = std::variant<DirectoryUri, S3Uri>;

Result<SourceUri> parse_source_uri(std::string_view text);
std::string to_string(const SourceUri& uri);

}  // namespace paddle::source
