// SPDX-License-Identifier: Apache-2.0
//
// HTTP over libcurl. send() gathers the response, stream() passes a 2xx body to a sink as it
// arrives. Any HTTP status is a response, not an error; an Error means that there is no (whole)
// response:
//
//   kDeadline      no whole response in time
//   kCancelled     `stop` was requested
//   kInvalid       bad URL, header, CA or key; response too large
//   kUntrusted     the certificate of the server is not trusted
//   kUnavailable   everything else between us and the server
//   other          the sink's error
//
// Thread-safe; calls do not wait for each other. Each call in progress has a connection of its own,
// kept alive afterwards for the next one. A stop ends a call immediately, and a waiting call costs
// no CPU. A peer that vanished is noticed within 30 s even on an idle stream (TCP keep-alive).
//
// HTTP/1.1 by choice: with HTTP/2 all watches and calls would share one TCP connection, so that one
// lost packet, one full flow-control window (our sinks apply back pressure) or one GOAWAY would
// delay all of them. The few connections that an operator needs cost less. Bodies are not
// compressed: within a cluster CPU is scarcer than bandwidth.
//
// Redirects are returned, never followed: they would carry credentials to another host.

#pragma once

#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "net/values/http.h"
#include "net/values/proxy.h"

namespace paddle::net {

class HttpClient {
 public:
  explicit HttpClient(HttpOptions options, const Clock& clock = system_clock());
  ~HttpClient();  // no call may be in progress
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  Result<HttpReply> send(const HttpRequest& request, const HttpCall& call = {});

  // Only a 2xx body goes to `sink`; any other is in the reply, cut at max_body. A body that ends
  // early is an error although the sink has received its beginning.
  Result<HttpReply> stream(const HttpRequest& request, const BodySink& sink,
                           const HttpCall& call = {});

 private:
  class Pool;

  Result<HttpReply> exchange(const HttpRequest& request, const BodySink* sink,
                             const HttpCall& call);

  const HttpOptions options_;
  const ProxySettings environment_;
  const Clock& clock_;
  std::unique_ptr<Pool> pool_;  // self-synchronised
};

}  // namespace paddle::net
