// SPDX-License-Identifier: Apache-2.0
//
// Many short HTTP requests at the same time, on one thread: for callers that ask many servers of
// which some may not answer. Errors are those of http_client.h; a request without a whole response
// in time is kUnavailable.
//
// Connections are kept for later requests to the same server, up to `max_idle`; the one that was
// not used for the longest time is closed first. Never through a proxy. Thread-safe.

#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "base/result.h"
#include "net/values/http.h"

namespace paddle::net {

class HttpLoop {
 public:
  // Called once per request, on the loop's thread: it must return soon, and may call send().
  using Done = std::function<void(Result<HttpReply>)>;

  explicit HttpLoop(std::size_t max_idle);
  // Requests in progress end without a call of their `done`.
  ~HttpLoop();
  HttpLoop(const HttpLoop&) = delete;
  HttpLoop& operator=(const HttpLoop&) = delete;

  // Of the options, `proxy` and `max_idle` have no effect.
  void send(HttpRequest request, HttpOptions options, std::chrono::milliseconds timeout, Done done);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paddle::net
