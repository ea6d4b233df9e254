// SPDX-License-Identifier: Apache-2.0
//
// HTTP/1.1 over TLS for api.h, on Boost.Beast: this is the only folder that knows Boost, in one .cc
// file.
//
// Every connection is bounded in time (a request that dribbles in, a reader that does not read) and
// in size (headers, bodies, one piece of a stream), and their number is bounded. A client proves
// itself by a bearer token, compared in constant time, before its body is read; only health checks
// go without. start() returns when the server listens; the destructor when every thread is gone,
// connections cut.

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
  bool may_be_remote = false;  // false: anything but loopback is refused
  std::string token{};
  ServingCertificate serving_certificate{};  // of the TLS that everything goes through
  int threads = 4;
  int connections = 512;
  size_t header_bytes = 32 * 1024;
  size_t body_bytes = size_t{3} << 20;
  std::chrono::seconds first_request{
      10};  // from accept to the end of the handshake, then of the first header
  std::chrono::seconds idle{120};  // between requests of a client that proved itself
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
  // Cuts connections and returns when no handler runs any more; the destructor does the same.
  void stop();
  // Something was committed: streams that care are asked for their next piece.
  void wake(const std::set<std::string>& collections);

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Takes the same time wherever the two differ.
bool same_secret(std::string_view given, std::string_view wanted);

}  // namespace paddle::local
