// SPDX-License-Identifier: Apache-2.0
//
// Calls a Cache Runtime Server. Each call has a timeout and ends early when `stop` is requested.
//
//   kUnavailable   no server answers, or it is not able to serve now
//   kUnauthorized  the server refuses the token
//   kDeadline      no answer in time
//   kNotFound      no such job
//   kConflict      another job has that id
//   kInvalid       the server refuses the request
//   kUntrusted     the authority did not sign the server's certificate
//
// It uses TLS when an authority is given: the runtime is called by its address and identified by
// its name. No error has a token. Thread-safe.

#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/time_limits.h"
#include "net/http_client.h"
#include "runtime/protocol/protocol.h"

namespace paddle::runtime {

// From the Secret <set>-runtime (runtime_secret.h).
struct RuntimeCredentials {
  std::string token{};
  std::string token_before{};  // tried when `token` is refused; empty: none
  std::string authority{};     // PEM
  std::string name{};          // of the certificate: server_name()
  bool tls = false;            // required; implied by an authority
  bool operator==(const RuntimeCredentials&) const = default;
};

// Whether the credentials are outdated, or newer than the runtime's: the Secret should be read
// again.
bool refuses_access(const Error& error);

// host:port of the runtime at this address, with brackets around an IPv6 address.
std::string address_of(const std::string& host);

class Client {
 public:
  // `address` is host:port, with brackets around an IPv6 host.
  Client(std::string address, RuntimeCredentials access,
         std::chrono::milliseconds limit = engine::kRuntimeCallTimeout);
  // Without TLS.
  Client(std::string address, std::string token,
         std::chrono::milliseconds limit = engine::kRuntimeCallTimeout);

  Result<JobReport> put_job(const std::string& id, const JobRequest& request,
                            std::stop_token stop = {});
  Result<JobReport> job(const std::string& id, std::stop_token stop = {});
  Result<std::vector<JobReport>> jobs(std::stop_token stop = {});
  Result<> cancel(const std::string& id, std::stop_token stop = {});
  Result<StatusReport> status(std::stop_token stop = {});
  // NodeEngine::list_for() of the runtime.
  Result<std::string> list(const std::string& job, std::int32_t partition,
                           std::stop_token stop = {});

 private:
  Result<api::Json> request_json(const std::string& method, const std::string& path,
                                 std::string body, std::stop_token stop);
  // The reply to the first token that is not refused. An error for every status but 2xx.
  Result<net::HttpReply> send(net::HttpRequest request, const net::BodySink* sink,
                              std::stop_token stop);

  const std::string address_;
  const RuntimeCredentials access_;
  const std::chrono::milliseconds limit_;
  net::HttpClient http_;
};

}  // namespace paddle::runtime
