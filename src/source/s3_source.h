// SPDX-License-Identifier: Apache-2.0
//
// An S3 bucket, or a prefix of one, as a source. ListObjectsV2 page by page, GET with Range and
// If-Match, and a check of each response's ETag (some servers ignore If-Match). Requests are signed
// with SigV4, or anonymous without an access key. Transient failures are retried (retry.h) within
// the caller's deadline; one attempt waits for the first byte of a response at most half of the
// remaining time, so that a dead connection does not use it up.
//
// Thread-safe: each call uses its own connection, which is kept alive for later calls.

#pragma once

#include <memory>

#include "base/clock.h"
#include "base/random.h"
#include "net/http_client.h"
#include "source/retry.h"
#include "source/sigv4.h"
#include "source/source.h"
#include "source/source_uri.h"

namespace paddle::source {

struct S3Options {
  S3Uri uri{};
  std::string endpoint{};  // scheme://host[:port]; empty: AWS
  std::string region = "us-east-1";
  bool path_style = true;  // http://host/bucket/key, not http://bucket.host/key
  S3Credentials credentials{};
  net::HttpOptions http{};
  RetryPolicy retry{};
  int page_size = 1000;
  std::chrono::milliseconds timeout{120'000};        // of one request
  std::chrono::milliseconds header_timeout{30'000};  // until the first byte of the response
  RateLimiter* rate_limiter = nullptr;               // null: unlimited
};

class S3Source final : public Source {
 public:
  // kInvalid for an invalid endpoint. Does not connect.
  static Result<std::unique_ptr<S3Source>> create(S3Options options,
                                                  const Clock& clock = system_clock(),
                                                  Random& random = system_random());

  Result<Listed> list(const ObjectSink& sink, std::stop_token stop) override;
  Result<> read(std::string_view path, std::string_view etag, std::uint64_t offset,
                std::span<std::byte> into, const CallContext& context) override;

 private:
  struct Address {
    std::string origin{};  // scheme://host[:port]
    std::string host{};    // as the Host header has it
    std::string root{};    // "/bucket" or ""
  };
  using Attempt = std::function<Result<>()>;

  S3Source(S3Options options, Address address, const Clock& clock, Random& random);

  Result<> persist(const Attempt& attempt, const CallContext& context);
  Result<> read_once(const std::string& key, std::string_view etag, std::uint64_t offset,
                     std::span<std::byte> into, const CallContext& context);
  Result<std::string> list_once(const std::string& token, const std::stop_token& stop);
  net::HttpRequest signed_request(const std::string& path, const Query& query, Headers headers);
  // kDeadline when the deadline has passed.
  Result<net::HttpCall> call(const CallContext& context) const;

  const S3Options options_;
  const Address address_;
  const Clock& clock_;
  Random& random_;
  net::HttpClient http_;
};

}  // namespace paddle::source
