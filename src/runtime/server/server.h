// SPDX-License-Identifier: Apache-2.0
//
// The HTTP routes of a Cache Runtime Server (docs/design/0006): authorization, parsing, replies.
// Everything but /healthz and /readyz requires the token. Errors are `{"error": "<sentence>"}`.
// Requests are limited in size, time and number (net/server).

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/metrics.h"
#include "base/result.h"
#include "engine/node_engine.h"
#include "net/server/http_server.h"
#include "runtime/server/job_runner.h"
#include "runtime/server/metrics.h"

namespace paddle::runtime {

// Its time depends only on the length of `given`.
bool same_secret(std::string_view given, std::string_view secret);

class Server {
 public:
  // The current tokens; an empty one authorizes nothing. Called for each request.
  using Tokens = std::function<std::vector<std::string>()>;
  using Token = std::function<std::string()>;

  // All but address, tokens and tls are borrowed and outlive the server.
  static Result<std::unique_ptr<Server>> start(const net::Address& address, Tokens tokens,
                                               JobRunner& jobs, engine::NodeEngine& engine,
                                               Metrics& metrics, const net::ServerTls& tls = {});
  static Result<std::unique_ptr<Server>> start(const net::Address& address, Token token,
                                               JobRunner& jobs, engine::NodeEngine& engine,
                                               Metrics& metrics, const net::ServerTls& tls = {});

  const net::Address& address() const { return http_->address(); }

 private:
  Server(Tokens tokens, JobRunner& jobs, engine::NodeEngine& engine, Metrics& metrics)
      : tokens_(std::move(tokens)), jobs_(jobs), engine_(engine), metrics_(metrics) {}

  net::ServerReply handle(const net::ServerRequest& request);
  net::ServerReply handle_list(const net::ServerRequest& request, const std::string& which);
  net::ServerReply handle_job(const net::ServerRequest& request, const std::string& id);
  std::optional<std::vector<JobReport>> polled_jobs(const net::ServerRequest& request) const;
  bool is_authorized(const net::ServerRequest& request) const;

  const Tokens tokens_;
  JobRunner& jobs_;
  engine::NodeEngine& engine_;
  StatusMetrics metrics_;
  std::unique_ptr<net::HttpServer> http_;  // last: its threads use everything above
};

}  // namespace paddle::runtime
