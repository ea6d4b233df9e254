// SPDX-License-Identifier: Apache-2.0
//
// Asks a Cache Runtime Server. Each call has a deadline and ends early when `stop` is asked for.
//
//   kUnavailable   nobody there, or it can not right now     kUnauthorized  the token is not its
//   own kDeadline      no answer in time                         kNotFound      no such job
//   kConflict      another job has that id                   kInvalid       it refuses the request
//
// The token appears in no error. Thread-safe.

#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/http_client.h"
#include "runtime/protocol.h"

namespace paddle::runtime {

class Client {
 public:
  // `address` is host:port; an IPv6 host is in brackets.
  Client(std::string address, std::string token,
         std::chrono::milliseconds limit = std::chrono::seconds{10});

  Result<JobReport> put_job(const std::string& id, const JobRequest& request,
                            std::stop_token stop = {});
  Result<JobReport> job(const std::string& id, std::stop_token stop = {});
  Result<std::vector<JobReport>> jobs(std::stop_token stop = {});
  Result<> cancel(const std::string& id, std::stop_token stop = {});
  Result<StatusReport> status(std::stop_token stop = {});

 private:
  Result<api::Json> ask(const std::string& method, const std::string& path, std::string body,
                        std::stop_token stop);

  const std::string origin_;
  const std::string token_;
  const std::chrono::milliseconds limit_;
  net::HttpClient http_;
};

}  // namespace paddle::runtime
