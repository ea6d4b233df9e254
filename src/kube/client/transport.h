// SPDX-License-Identifier: Apache-2.0
//
// Sends requests to one API server as one identity. It handles credentials, retries that the server
// requests, and metrics, so that kube/client/client.h has to know only the verbs. A response that
// is not 2xx is an Error (kube/wire/status.h). Thread-safe; no lock is held during a request.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/sync.h"
#include "kube/client/credential_source.h"
#include "kube/config/config.h"
#include "kube/wire/retry.h"
#include "net/http_client.h"

namespace paddle::kube {

struct ApiRequest {
  std::string verb{};      // for metrics: get, list, watch, create, ...
  std::string resource{};  // plural; for metrics and the gate
  std::string method = "GET";
  std::string path{};  // with its query
  std::string accept = "application/json";
  std::string content_type{};
  std::string body{};
  bool idempotent = true;
  // For a watch: the call's timeout bounds only the time until the response begins, this the whole
  // watch.
  std::chrono::milliseconds life{0};
  std::function<bool()> may_send{};  // net::HttpCall::may_send, for each attempt
};

struct TransportOptions {
  std::string user_agent{};
  size_t max_body = size_t{16} << 20;
  Metrics* metrics = nullptr;
  const Clock* clock = nullptr;  // required, as is random
  Random* random = nullptr;
};

class Transport {
 public:
  Transport(Config config, TransportOptions options);

  Result<net::HttpReply> send(const ApiRequest& request, std::chrono::milliseconds timeout,
                              std::stop_token stop);
  Result<net::HttpReply> stream(const ApiRequest& request, const net::BodySink& sink,
                                std::chrono::milliseconds timeout, std::stop_token stop);

 private:
  Result<net::HttpReply> exchange(const ApiRequest& request, const net::BodySink* sink,
                                  std::chrono::milliseconds timeout, const std::stop_token& stop);
  Result<net::HttpReply> attempt(const ApiRequest& request, const net::BodySink* sink,
                                 const Credential& credential, std::chrono::milliseconds left,
                                 const std::stop_token& stop);
  Result<> pause(std::chrono::milliseconds wait, const std::stop_token& stop) const;
  std::shared_ptr<net::HttpClient> http_for(const Credential& credential) EXCLUDES(mutex_);
  net::HttpRequest http_request_of(const ApiRequest& request, const Credential& credential) const;
  void count(const ApiRequest& request, const std::string& code, BootTime since) const;

  const Config config_;
  const TransportOptions options_;
  const Clock& clock_;
  Random& random_;
  const std::unique_ptr<CredentialSource> credentials_;
  ThrottleGate gate_;

  Mutex mutex_;
  // Replaced when a plugin returns another client certificate; calls in progress keep theirs.
  std::shared_ptr<net::HttpClient> http_ GUARDED_BY(mutex_);
  std::string cert_pem_ GUARDED_BY(mutex_);
};

}  // namespace paddle::kube
