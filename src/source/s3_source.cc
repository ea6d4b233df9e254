// SPDX-License-Identifier: Apache-2.0
#include "source/s3_source.h"

#include <algorithm>
#include <cstring>

#include "net/values/url.h"
#include "source/path_rules.h"
#include "source/s3_list.h"
#include "source/s3_response.h"

namespace paddle::source {
namespace {

using std::chrono::milliseconds;

// A limit of zero means no limit.
milliseconds shorter(milliseconds limit, milliseconds left) {
  return limit.count() > 0 ? std::min(limit, left) : left;
}

// An empty object by which consoles and gateways mark a directory; the prefix itself may be one.
bool is_directory_mark(std::string_view path, std::uint64_t size) {
  if (size != 0) return false;
  if (path.empty()) return true;
  return path.ends_with('/') && is_path(path.substr(0, path.size() - 1));
}

}  // namespace

Result<std::unique_ptr<S3Source>> S3Source::create(S3Options options, const Clock& clock,
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

  const bool usual = origin.port == (origin.scheme == "https" ? "443" : "80");
  const bool v6 = origin.host.find(':') != std::string::npos;
  std::string host = v6 ? "[" + origin.host + "]" : origin.host;
  if (!options.path_style) host = options.uri.bucket + "." + host;
  if (!usual) host += ":" + origin.port;
  Address address{.origin = origin.scheme + "://" + host,
                  .host = host,
                  .root = options.path_style ? "/" + options.uri.bucket : ""};
  return std::unique_ptr<S3Source>(
      new S3Source(std::move(options), std::move(address), clock, random));
}

S3Source::S3Source(S3Options options, Address address, const Clock& clock, Random& random)
    : options_(std::move(options)),
      address_(std::move(address)),
      clock_(clock),
      random_(random),
      http_(options_.http, clock) {}

Result<> S3Source::persist(const Attempt& attempt, const CallContext& context) {
  for (int made = 1;; ++made) {
    auto done = attempt();
    if (done) return done;
    const auto pause = pause_after(done.error(), made, random_.uniform(), options_.retry);
    if (!pause || *pause >= context.left(clock_)) return done;
    if (!clock_.sleep(*pause, context.stop))
      return Error{Code::kCancelled, "stopped while waiting to retry"};
  }
}

net::HttpRequest S3Source::signed_request(const std::string& path, const Query& query,
                                          Headers headers) {
  headers.emplace_back("host", address_.host);
  if (!options_.credentials.anonymous()) {
    const WallTime now = clock_.wall();
    headers.emplace_back("x-amz-date", amz_date(now));
    headers.emplace_back("x-amz-content-sha256", std::string(kEmptyPayloadHash));
    if (!options_.credentials.session_token.empty()) {
      headers.emplace_back("x-amz-security-token", options_.credentials.session_token);
    }
    headers.emplace_back("authorization",
                         authorization({.method = "GET",
                                        .path = path,
                                        .query = query,
                                        .headers = headers,
                                        .payload_hash = std::string(kEmptyPayloadHash)},
                                       options_.credentials,
                                       {.region = options_.region, .service = "s3", .now = now}));
  }
  std::string url = address_.origin + path;
  if (!query.empty()) url += "?" + canonical_query(query);
  return {.method = "GET",
          .url = std::move(url),
          .headers = std::move(headers),
          .body = {},
          .idempotent = true};
}

Result<net::HttpCall> S3Source::call(const CallContext& context) const {
  net::HttpCall call{
      .timeout = options_.timeout, .header_timeout = options_.header_timeout, .stop = context.stop};
  if (!context.limited()) return call;
  const auto left = std::chrono::ceil<milliseconds>(context.left(clock_));
  if (left.count() == 0) return Error{Code::kDeadline, "no time is left to call the server"};
  call.timeout = shorter(call.timeout, left);
  call.header_timeout = shorter(call.header_timeout, std::max(left / 2, milliseconds{1}));
  return call;
}

Result<std::string> S3Source::list_once(const std::string& token, const std::stop_token& stop) {
  Query query{{"list-type", "2"},
              {"encoding-type", "url"},
              {"max-keys", std::to_string(options_.page_size)}};
  if (!options_.uri.prefix.empty()) query.emplace_back("prefix", options_.uri.prefix);
  if (!token.empty()) query.emplace_back("continuation-token", token);
  const std::string path = address_.root.empty() ? "/" : address_.root;
  TRY(const net::HttpCall limits, call(stop));
  TRY(net::HttpReply reply, http_.send(signed_request(path, query, {}), limits));
  if (reply.status != 200) return s3_error_of(reply);
  return std::move(reply.body);
}

Result<Listed> S3Source::list(const ObjectSink& sink, std::stop_token stop) {
  const std::string& prefix = options_.uri.prefix;
  Listed listed;
  std::string token;
  for (;;) {
    S3Page page;
    const auto fetch = [&]() -> Result<> {
      TRY(const std::string body, list_once(token, stop));
      TRY(page, parse_s3_page(body));
      return Done{};
    };
    if (auto done = persist(fetch, stop); !done) {
      return std::move(done).error().in("list " + to_string(SourceUri{options_.uri}));
    }
    for (S3Object& object : page.objects) {
      if (stop.stop_requested()) return Error{Code::kCancelled, "the listing was stopped"};
      if (!object.key.starts_with(prefix)) {
        return Error{Code::kInvalid, "the listing contains a key outside of the prefix"};
      }
      std::string path = object.key.substr(prefix.size());
      if (const auto why = why_no_path(path); !why.empty()) {
        if (!is_directory_mark(path, object.size)) listed.left_out.add(path, why);
        continue;
      }
      ++listed.objects;
      listed.bytes += object.size;
      CHECK_DONE(sink({.path = std::move(path),
                       .size = object.size,
                       .etag = std::move(object.etag),
                       .modified = object.modified}));
    }
    if (!page.truncated) return listed;
    if (page.next == token) {
      return Error{Code::kInvalid, "the listing repeats a page"};
    }
    token = std::move(page.next);
  }
}

Result<> S3Source::read_once(const std::string& key, std::string_view etag, std::uint64_t offset,
                             std::span<std::byte> into, const CallContext& context) {
  const std::string range =
      "bytes=" + std::to_string(offset) + "-" + std::to_string(offset + into.size() - 1);
  std::size_t received = 0;
  const auto sink = [&](std::string_view piece) -> Result<> {
    if (piece.size() > into.size() - received) {
      return Error{Code::kInvalid, "the server sent more bytes than requested"};
    }
    std::memcpy(into.data() + received, piece.data(), piece.size());
    received += piece.size();
    return Done{};
  };
  const auto request =
      signed_request(address_.root + "/" + uri_encode(key, true), {},
                     {{"range", range}, {"if-match", "\"" + std::string(etag) + "\""}});
  TRY(const net::HttpCall limits, call(context));
  TRY(const net::HttpReply reply, http_.stream(request, sink, limits));
  if (reply.status != 200 && reply.status != 206) return s3_error_of(reply);
  return check_s3_range(reply, etag, offset, into.size(), received);
}

Result<> S3Source::read(std::string_view path, std::string_view etag, std::uint64_t offset,
                        std::span<std::byte> into, const CallContext& context) {
  if (into.empty()) return Done{};
  if (!is_path(path) || !is_etag(etag) || offset > INT64_MAX || into.size() > INT64_MAX - offset) {
    return Error{Code::kInvalid, "not a range of a sample"};
  }
  if (options_.rate_limiter) CHECK_DONE(options_.rate_limiter->take(into.size(), context.stop));
  const std::string key = options_.uri.prefix + std::string(path);
  return persist([&] { return read_once(key, etag, offset, into, context); }, context);
}

}  // namespace paddle::source
