// SPDX-License-Identifier: Apache-2.0
//
// AWS Signature Version 4; no packaged library offers it alone. Pure: the time is an argument.
// Tested with the examples that AWS publishes (sigv4_test.cc).

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace paddle::source {

struct S3Credentials {
  std::string access_key{};
  std::string secret_key{};
  std::string session_token{};  // of temporary credentials
  bool anonymous() const { return access_key.empty(); }
};

using Headers = std::vector<std::pair<std::string, std::string>>;
using Query = std::vector<std::pair<std::string, std::string>>;  // not encoded

struct SigningRequest {
  std::string method = "GET";
  std::string path{};  // encoded as it goes over the wire
  Query query{};
  Headers headers{};           // names in lower case; "host" must be among them; all are signed
  std::string payload_hash{};  // lower-case SHA-256, or UNSIGNED-PAYLOAD
};

struct SigningScope {
  std::string region{};
  std::string service = "s3";
  WallTime now{};
};

inline constexpr std::string_view kEmptyPayloadHash =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

// Each byte but letters, digits and - . _ ~ as %XX; '/' is kept when `path`.
std::string uri_encode(std::string_view text, bool path);

// "a=1&b=2" with names and values encoded, in the order that signing wants.
std::string canonical_query(const Query& query);

std::string amz_date(WallTime now);  // 20130524T000000Z

// The value of the Authorization header. `request.headers` must hold x-amz-date for scope.now.
std::string authorization(const SigningRequest& request, const S3Credentials& credentials,
                          const SigningScope& scope);

}  // namespace paddle::source
