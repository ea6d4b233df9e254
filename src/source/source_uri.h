// SPDX-License-Identifier: Apache-2.0
//
// The URI of a source, as written in a SampleSet. Pure.
//
//   file:///absolute/directory
//   s3://bucket            s3://bucket/some/prefix
//   s3://bucket.endpoint/prefix        bos://bucket.endpoint/prefix
//
// An endpoint in the URI begins after the first dot, as JuiceFS reads it; but when the Secret has
// the endpoint, all of `bucket` is the name of an s3 bucket. resolve() decides.
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

// By which protocol a bucket is read.
enum class Store { kS3, kBos };

struct S3Uri {
  std::string bucket{};  // as written: may have an endpoint
  std::string prefix{};  // empty, or ending with '/'
  Store store = Store::kS3;
  bool operator==(const S3Uri&) const = default;
};

// A bucket and where it is.
struct BucketAddress {
  S3Uri uri{};             // the bucket alone
  std::string endpoint{};  // scheme://host[:port]; empty: AWS
  std::string region{};    // as an endpoint of AWS says it; empty: it does not
};

using SourceUri = std::variant<DirectoryUri, S3Uri>;

Result<SourceUri> parse_source_uri(std::string_view text);
std::string to_string(const SourceUri& uri);

// `secret_endpoint` is that of the Secret, or empty. An endpoint without "http://" is https, unless
// it is an IPv4 address. kInvalid when a bos bucket has no endpoint.
Result<BucketAddress> resolve(const S3Uri& uri, const std::string& secret_endpoint);

}  // namespace paddle::source
