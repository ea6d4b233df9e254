// SPDX-License-Identifier: Apache-2.0
//
// The answers of an S3 server, from XML to values: a page of ListObjectsV2, and the code of an
// error. Input is hostile. Pure.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace paddle::source {

struct S3Object {
  std::string key{};
  std::uint64_t size = 0;
  std::string etag{};  // without quotes
  WallTime modified{};
  bool operator==(const S3Object&) const = default;
};

struct S3Page {
  std::vector<S3Object> objects{};
  bool truncated = false;
  std::string next{};  // continuation token; not empty when truncated
  bool operator==(const S3Page&) const = default;
};

// kInvalid when it is not a listing, or one that lacks a key, size or etag. Keys are decoded when
// the answer says that they are encoded (encoding-type=url), where '+' is a space.
Result<S3Page> parse_s3_page(std::string_view xml);

// "NoSuchKey" and the like; empty when there is none. Nothing else of an error document is ever
// looked at or shown: servers repeat access keys and signatures in there.
std::string s3_error_code(std::string_view xml);

}  // namespace paddle::source
