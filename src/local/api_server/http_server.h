// SPDX-License-Identifier: Apache-2.0
//
// HTTP/1.1 over TLS for api.h, with Boost.Beast: only http_server.cc includes Boost.
//
// Every connection has limits in time (slow requests, clients that do not read) and in size
// (headers, bodies, one chunk of a stream); the number of connections is limited. A client
// authenticates with a bearer token, compared in constant time, before its body is read; only
// health checks need none. start() returns when the server listens; the destructor closes all
// connections and returns when every thread has ended.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "local/api_server/api.h"
#include "local/api_server/certificate.h"

namespace paddle::local {

struct HttpOptions {
  std::string address = "127.0.0.1";
  int port = 0;                // 0: the kernel chooses
  bool may_be_remote = false;  // false: only loopback addresses are allowed
  std::string token{};
  ServingCertificate serving_certificate{};  // for TLS on all connections
  int threads = 4;
  int connections = 512;
  size_t header_bytes = 32UL * 1024;
  size_t body_bytes = size_t{3} << 20;
  std::chrono::seconds first_request{
      10};  // from accept to the end of the handshake, then of the first header
  std::chrono::seconds idle{120};  // between requests of an authenticated client
  std::chrono::seconds body{30};
  std::chrono::seconds write{30};
};

class HttpServer {
 public:
  using Handler = std::function<Reply(const Request&)>;  // called by several threads at once

  static Result<std::unique_ptr<HttpServer>> start(const HttpOptions& options, const Clock& clock,
                                                   Handler handler);
  ~HttpServer();

  int port() const;
  // Closes all connections and returns when no handler runs; the destructor does the same.
  void stop();
  // Call it after a commit: streams that are interested in the collections send their next chunk.
  void wake(const std::set<std::string>& collections);

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Constant time, regardless of where the two differ.
bool same_secret(std::string_view given, std::string_view wanted);

}  // namespace paddle::local
