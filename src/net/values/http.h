// SPDX-License-Identifier: Apache-2.0
//
// Requests, replies and options of net/http_client.h, as plain values. Secrets in them (tokens in
// headers, keys, proxy passwords) never reach an error message.

#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace paddle::net {

// The server is verified unless `insecure`. A configured CA replaces the system's, whatever the
// environment says. Files are read again for each new connection, so that they may be rotated. If
// both a file and a PEM text are given, the text is used.
struct TlsOptions {
  std::string ca_file{};
  std::string ca_pem{};
  std::string cert_file{};
  std::string cert_pem{};
  std::string key_file{};
  std::string key_pem{};
  std::string server_name{};  // expected in the certificate instead of the URL's host
  bool insecure = false;
  bool operator==(const TlsOptions&) const = default;
};

struct HttpOptions {
  TlsOptions tls{};
  // Unset: HTTPS_PROXY, HTTP_PROXY and NO_PROXY decide (net/values/proxy.h). Empty: no proxy.
  // Otherwise http://, https:// or socks5://, with optional user info.
  std::optional<std::string> proxy{};
  std::string user_agent{};
  std::chrono::milliseconds connect_timeout{10'000};
  size_t max_body = size_t{16} << 20;  // of a response that is not streamed
  size_t max_idle = 32;                // connections kept open for later calls
};

struct HttpRequest {
  std::string method = "GET";
  std::string url{};
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
  // It may be executed twice: it is sent again, once, when a kept-alive connection turns out to be
  // dead. Otherwise it is sent at most once.
  bool idempotent = true;
};

struct HttpReply {
  int status = 0;
  std::string body{};  // empty when it went to a sink
  std::string content_type{};
  std::string location{};  // of a redirect; redirects are not followed
  std::string etag{};      // as sent, quotes included
  std::string content_range{};
  std::optional<std::chrono::milliseconds> retry_after{};
  // Every header as sent, names in lower case.
  std::vector<std::pair<std::string, std::string>> headers{};

  // The first header of that name, which is in lower case; empty when there is none.
  std::string_view header(std::string_view name) const;
};

struct HttpCall {
  std::chrono::milliseconds timeout{30'000};    // for the whole call; 0 = none
  std::chrono::milliseconds header_timeout{0};  // until the response begins; 0 = only `timeout`
  // HttpClient only: kDeadline when fewer than `stall_bytes` of the body arrive within it, at any
  // time once the response has begun; 0 = only `timeout`.
  std::chrono::milliseconds stall_timeout{0};
  std::size_t stall_bytes = 1;
  std::stop_token stop{};
  // HttpClient only: called when the header of the response is complete, before any of its body; an
  // error ends the call with that error.
  std::function<Result<>(const HttpReply& header)> on_header{};
  // Called immediately before the request, and before its body, is written to the socket, each time
  // it is sent; false: it is not sent (kCancelled).
  std::function<bool()> may_send{};
};

// What an HTTP status that is not 2xx means in general: 401 kUnauthorized, 403 kForbidden, 404
// kNotFound, 409 and 412 kConflict, 410 kExpired, 429 kThrottled, 5xx kUnavailable, all others
// kInvalid. A protocol that uses a status differently makes its exceptions where it reads replies.
Code code_of(int status);

// Receives the body piece by piece on the caller's thread; nothing more is read from the connection
// until it returns, and an error ends the transfer with that error.
using BodySink = std::function<Result<>(std::string_view piece)>;

}  // namespace paddle::net
