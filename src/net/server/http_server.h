// SPDX-License-Identifier: Apache-2.0
//
// Answers short GET and HEAD requests; one request per connection unless `kept` allows more,
// request bodies are not read.
// With `body_bytes` set it also answers PUT, POST and DELETE: the handler gets the whole body, and
// a longer one is a 413. A compressed body is refused (415), because its size is not known in
// advance.
//
// Every connection is limited: the bytes of its request, the time until its header is complete, the
// time from there to the last byte of the response (a slow client is cut off), and the number of
// connections. One too many takes the place of the one that has waited longest for a header, and is
// closed immediately when all are busy (connection_places.h). With `tls` all of this is over TLS,
// and the time of the header includes the handshake. start() returns when the server listens; the
// destructor returns when every thread has ended. The handler runs on connection threads and must
// be thread-safe; an exception of it becomes a 500.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/server/address.h"
#include "net/server/tls_context.h"

namespace paddle::net {

struct ServerLimits {
  int connections = 32;
  size_t request_bytes = 16UL * 1024;               // request line and headers
  std::chrono::milliseconds header{2'000};          // from accept to the end of the header
  std::chrono::milliseconds whole_request{10'000};  // body, handling and writing together
  size_t body_bytes = 0;                            // 0: only GET and HEAD
  // Connections that stay open for further requests of their client, after one without a body; 0:
  // none, each answer ends its connection. One that is idle for `idle` is closed. They count as
  // connections.
  int kept = 0;
  std::chrono::milliseconds idle{20'000};
};

struct ServerRequest {
  std::string method{};
  std::string path{};           // decoded, without the query
  std::string query{};          // raw parameters, sorted: "verbose&x=1" is "verbose=&x=1"
  std::string authorization{};  // that header; a secret
  std::string body{};
};

struct ServerReply {
  int status = 200;
  std::string body{};
  std::string content_type = "text/plain; charset=utf-8";
};

class HttpServer {
 public:
  using Handler = std::function<ServerReply(const ServerRequest&)>;

  // kUnavailable when the address cannot be bound, kInvalid when the certificate cannot be used.
  static Result<std::unique_ptr<HttpServer>> start(const Address& address, Handler handler,
                                                   ServerLimits limits = {},
                                                   const ServerTls& tls = {});
  ~HttpServer();

  const Address& address() const;  // with the port that the kernel chose

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace paddle::net
