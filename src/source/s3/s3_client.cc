// SPDX-License-Identifier: Apache-2.0
#include "source/s3/s3_client.h"

#include <algorithm>

#include "net/values/url.h"
#include "source/s3/bos.h"
#include "source/s3/s3_response.h"

namespace paddle::source {
namespace {

using std::chrono::milliseconds;

// Bytes that must arrive before the attempts are counted again: a server that sends a few and
// breaks off, again and again, is given up.
constexpr std::uint64_t kProgress = std::uint64_t{64} << 10;

// A limit of zero means no limit.
milliseconds shorter(milliseconds limit, milliseconds left) {
  return limit.count() > 0 ? std::min(limit, left) : left;
}

}  // namespace

Result<std::unique_ptr<S3Client>> S3Client::create(S3Options options, const Clock& clock,
                                                   Random& random) {
  std::string endpoint = options.endpoint;
  if (endpoint.empty()) endpoint = "https://s3." + options.region + ".amazonaws.com";
  if (endpoint.ends_with('/')) endpoint.pop_back();
  TRY(const net::Origin origin, net::origin_of(endpoint));
  const std::size_t host_at = origin.scheme.size() + 3;
  if (endpoint.find_first_of("/?#@", host_at) != std::string::npos) {
    return Error{Code::kInvalid, "an S3 endpoint is scheme://host[:port] and nothing more"};
  }
  if (options.uri.bucket.empty()) return Error{Code::kInvalid, "an S3 source needs a bucket"};
  if (options.uri.store == Store::kBos) options.versions = options.md5_etags = false;

  const bool usual = origin.port == (origin.scheme == "https" ? "443" : "80");
  const bool v6 = origin.host.find(':') != std::string::npos;
  std::string host = v6 ? "[" + origin.host + "]" : origin.host;
  if (!options.path_style) host = options.uri.bucket + "." + host;
  if (!usual) host += ":" + origin.port;
  Address address{.origin = origin.scheme + "://" + host,
                  .host = host,
                  .root = options.path_style ? "/" + options.uri.bucket : ""};
  return std::unique_ptr<S3Client>(
      new S3Client(std::move(options), std::move(address), clock, random));
}

S3Client::S3Client(S3Options options, Address address, const Clock& clock, Random& random)
    : options_(std::move(options)),
      address_(std::move(address)),
      clock_(clock),
      random_(random),
      http_(options_.http, clock) {}

Result<> S3Client::persist(const std::function<Result<>()>& attempt, const CallContext& context,
                           const std::function<std::uint64_t()>& moved, int attempts) {
  RetryPolicy policy = options_.retry;
  if (attempts > 0) policy.attempts = attempts;
  std::uint64_t before = moved ? moved() : 0;
  for (int made = 1;; ++made) {
    auto done = attempt();
    if (done) return done;
    if (moved && moved() >= before + kProgress) {
      before = moved();
      made = 1;
    }
    const auto pause = pause_after(done.error(), made, random_.uniform(), policy);
    if (!pause || *pause >= context.left(clock_)) return done;
    if (!clock_.sleep(*pause, context.stop))
      return Error{Code::kCancelled, "stopped while waiting to retry"};
  }
}

// Those that a signature adds to others, which are part of it with S3.
Headers S3Client::signature(const std::string& path, const Query& query,
                            const Headers& headers) const {
  const S3Credentials& keys = options_.credentials;
  const WallTime now = clock_.wall();
  if (keys.anonymous()) return {{"host", address_.host}};
  if (options_.uri.store == Store::kBos) return bos_headers(address_.host, path, query, keys, now);
  Headers added{{"host", address_.host},
                {"x-amz-date", amz_date(now)},
                {"x-amz-content-sha256", std::string(kEmptyPayloadHash)}};
  if (!keys.session_token.empty()) added.emplace_back("x-amz-security-token", keys.session_token);
  Headers all = headers;
  all.insert(all.end(), added.begin(), added.end());
  added.emplace_back("authorization",
                     authorization({.method = "GET",
                                    .path = path,
                                    .query = query,
                                    .headers = std::move(all),
                                    .payload_hash = std::string(kEmptyPayloadHash)},
                                   keys, {.region = options_.region, .service = "s3", .now = now}));
  return added;
}

net::HttpRequest S3Client::signed_request(const std::string& path, const Query& query,
                                          Headers headers) {
  const Headers added = signature(path, query, headers);
  headers.insert(headers.end(), added.begin(), added.end());
  std::string url = address_.origin + path;
  if (!query.empty()) url += "?" + canonical_query(query);
  return {.method = "GET",
          .url = std::move(url),
          .headers = std::move(headers),
          .body = {},
          .idempotent = true};
}

Result<net::HttpCall> S3Client::limits(const CallContext& context) const {
  net::HttpCall call{.timeout = milliseconds{0},
                     .header_timeout = options_.header_timeout,
                     .stall_timeout = options_.stall_timeout,
                     .stall_bytes = options_.stall_bytes,
                     .stop = context.stop};
  if (!context.limited()) return call;
  const auto left = std::chrono::ceil<milliseconds>(context.left(clock_));
  if (left.count() == 0) return Error{Code::kDeadline, "no time is left to call the server"};
  call.timeout = left;
  call.header_timeout = shorter(call.header_timeout, std::max(left / 2, milliseconds{1}));
  return call;
}

Result<net::HttpReply> S3Client::get(const std::string& key, const Query& query, Headers headers,
                                     const net::HttpCall& limits, const net::BodySink& sink) {
  const auto request =
      signed_request(address_.root + "/" + uri_encode(key, true), query, std::move(headers));
  return http_.stream(request, sink, limits);
}

Result<std::string> S3Client::get_bucket(const Query& query, const std::stop_token& stop) {
  const std::string path = address_.root.empty() ? "/" : address_.root;
  TRY(net::HttpCall call, limits(stop));
  call.timeout = options_.list_timeout;
  TRY(net::HttpReply reply, http_.send(signed_request(path, query, {}), call));
  if (reply.status != 200) return s3_error_of(reply);
  if (options_.rate_limiter) CHECK_DONE(options_.rate_limiter->take(reply.body.size(), stop));
  return std::move(reply.body);
}

}  // namespace paddle::source
