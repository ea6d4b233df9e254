// SPDX-License-Identifier: Apache-2.0
//
// Parses XML responses of an S3 server: a page of ListObjectsV2 or of ListObjectVersions, and the
// code of an error. The input is untrusted. Pure.

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
  std::string etag{};  // without quotes; as sent, also when it is none
  WallTime modified{};
  std::string version_id{};  // empty: none, or not usable
  bool operator==(const S3Object&) const = default;
};

struct S3Page {
  std::vector<S3Object> objects{};  // of versions: the latest ones
  bool truncated = false;
  std::string next{};          // continuation token or key marker; not empty when truncated
  std::string next_version{};  // version id marker
  // Of all entries, also versions that are not the latest. Empty: there are none.
  std::string first_key{};
  std::string last_key{};
  bool sorted = true;  // the keys of the entries rise; those of versions do not fall
  bool operator==(const S3Page&) const = default;
};

// kInvalid when it is not a listing, or an object lacks its key or size. Keys are decoded if the
// response declares encoding-type=url, where '+' is a space.
Result<S3Page> parse_s3_page(std::string_view xml);

// "NoSuchKey" and the like; empty when there is none. The rest of an error document is never used
// or logged: servers repeat access keys and signatures in it.
std::string s3_error_code(std::string_view xml);

}  // namespace paddle::source
