// SPDX-License-Identifier: Apache-2.0
//
// Signed GET requests to one bucket of S3 or BOS: address, signature, limits and retries. Requests
// are signed with SigV4 or as BOS wants it, or anonymous without an access key. One attempt waits
// for the first byte of a response at most half of the remaining time, so that a dead connection
// does not use it up.
//
// Thread-safe: each call uses its own connection, which is kept alive for later calls.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "net/http_client.h"
#include "source/retry.h"
#include "source/s3/sigv4.h"
#include "source/source.h"
#include "source/source_uri.h"

namespace paddle::source {

struct S3Options {
  S3Uri uri{};
  std::string endpoint{};  // scheme://host[:port]; empty: AWS
  std::string region = "us-east-1";
  bool path_style = true;  // http://host/bucket/key, not http://bucket.host/key
  // Of S3 only; with BOS they are false.
  bool md5_etags = true;  // an ETag that looks like an MD5 is the MD5 of the object
  bool versions = false;  // list version ids, for reads of overwritten versions
  S3Credentials credentials{};
  net::HttpOptions http{};
  RetryPolicy retry{};
  int page_size = 1000;
  std::size_t list_threads = 8;  // parts of a large listing that are fetched at the same time
  int serial_pages = 16;         // of a listing, before the rest is divided
  std::chrono::milliseconds list_timeout{120'000};   // of one page
  std::chrono::hours listing_limit{12};              // of a whole listing
  std::uint64_t most_objects = 100'000'000;          // of a listing
  std::chrono::milliseconds header_timeout{30'000};  // until the first byte of the response
  std::chrono::milliseconds stall_timeout{30'000};   // for the next stall_bytes of a body
  std::size_t stall_bytes = 4096;
  std::shared_ptr<RateLimiter> rate_limiter{};  // null: unlimited
};

class S3Client {
 public:
  // kInvalid for an invalid endpoint. Does not connect.
  static Result<std::unique_ptr<S3Client>> create(S3Options options, const Clock& clock,
                                                  Random& random);

  // A GET of an object, whose body goes to `sink` once `accept` has accepted the header.
  Result<net::HttpReply> get(const std::string& key, const Query& query, Headers headers,
                             const net::HttpCall& limits, const net::BodySink& sink);
  // A GET of the bucket itself: the body, of a 200.
  Result<std::string> get_bucket(const Query& query, const std::stop_token& stop);

  // The limits of one attempt. kDeadline when the deadline has passed.
  Result<net::HttpCall> limits(const CallContext& context) const;

  // Calls `attempt` until it succeeds, fails for good, or the policy or the deadline gives up.
  // `moved` returns a number that grows with the progress made: progress starts the count of
  // attempts again. `attempts` 0: as the policy says.
  Result<> persist(const std::function<Result<>()>& attempt, const CallContext& context,
                   const std::function<std::uint64_t()>& moved = {}, int attempts = 0);

  const S3Options& options() const { return options_; }
  const Clock& clock() const { return clock_; }

 private:
  struct Address {
    std::string origin{};  // scheme://host[:port]
    std::string host{};    // as the Host header has it
    std::string root{};    // "/bucket" or ""
  };

  S3Client(S3Options options, Address address, const Clock& clock, Random& random);
  net::HttpRequest signed_request(const std::string& path, const Query& query, Headers headers);
  Headers signature(const std::string& path, const Query& query, const Headers& headers) const;

  const S3Options options_;
  const Address address_;
  const Clock& clock_;
  Random& random_;
  net::HttpClient http_;
};

}  // namespace paddle::source
