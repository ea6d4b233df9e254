// SPDX-License-Identifier: Apache-2.0
//
// HTTP over libcurl. send() gathers the answer, stream() hands a 2xx body to a sink as it arrives.
// Any HTTP status is an answer, not an error; an Error means that there is no (whole) answer:
//
//   kDeadline     no whole answer in time
//   kInvalid      bad URL, header, CA or key; answer too large
//   kCancelled    `stop` was asked for
//   kUntrusted    the server's certificate is not trusted
//   kUnavailable  everything else between us and the server
//   (as it is)    the sink's error
//
// Thread-safe; calls do not wait for each other. Each call in progress has a connection of its own,
// kept alive afterwards for the next one. A stop ends a call at once, and a call that waits costs
// no CPU. A peer that vanished is noticed within 30 s even on an idle stream (TCP keep-alive).
//
// HTTP/1.1 by choice: with HTTP/2 all watches and calls would share one TCP connection, so that one
// lost packet, one full flow-control window (our sinks push back) or one GOAWAY holds up all of
// them. The handful of connections that an operator needs costs less. Bodies are not compressed:
// within a cluster CPU is scarcer than bandwidth.
//
// Redirects are handed back, never followed: they would carry credentials to another host.

#pragma once

#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "net/http.h"
#include "net/proxy.h"

namespace paddle::net {

class HttpClient {
 public:
  explicit HttpClient(HttpOptions options, const Clock& clock = system_clock());
  ~HttpClient();  // no call may be in progress
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  Result<HttpReply> send(const HttpRequest& request, const HttpCall& call = {});

  // Only a 2xx body goes to `sink`; any other is in the reply, cut at max_body. A body that ends
  // early is an error even though the sink has seen its beginning.
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
