// SPDX-License-Identifier: Apache-2.0
//
// An S3 bucket, or a prefix of one, as a source. ListObjectsV2 page by page, GET with Range and
// If-Match, and the ETag of each answer compared as well (some servers ignore If-Match). Signed
// with SigV4, or anonymous when there is no access key. Transient failures are retried (retry.h) as
// long as the caller's time allows; of that, one attempt waits for the beginning of an answer for
// half of what is left at most, so that a connection that died does not take all of it.
//
// Thread-safe: each call has its own connection, kept alive for the next one.

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
  std::chrono::milliseconds header_timeout{30'000};  // until it begins to answer
  RateLimiter* rate_limiter = nullptr;               // none: unlimited
};

class S3Source final : public Source {
 public:
  // kInvalid for an endpoint that is not one. Connects to nothing yet.
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
  // kDeadline when no time is left.
  Result<net::HttpCall> call(const CallContext& context) const;

  const S3Options options_;
  const Address address_;
  const Clock& clock_;
  Random& random_;
  net::HttpClient http_;
};

}  // namespace paddle::source
