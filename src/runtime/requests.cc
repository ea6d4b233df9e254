// SPDX-License-Identifier: Apache-2.0
#include "runtime/requests.h"

#include <nlohmann/json.hpp>

namespace paddle::runtime {
namespace {

using api::Json;

Error error_of(const net::HttpReply& reply) {
  std::string reason = "it answered " + std::to_string(reply.status);
  if (const auto json = api::parse_json(reply.body); json && json->is_object()) {
    const auto said = json->find("error");
    if (said != json->end() && said->is_string()) reason = said->get<std::string>().substr(0, 500);
  }
  return {net::code_of(reply.status), std::move(reason), reply.retry_after};
}

std::string runtime_at(const std::string& address) { return "runtime at " + address; }

}  // namespace

// Runtimes are within the cluster: never through a proxy.
net::HttpOptions http_options(const RuntimeCredentials& access) {
  net::HttpOptions options;
  options.tls = {.ca_pem = access.authority, .server_name = access.name};
  options.proxy = "";
  options.user_agent = "paddle-operator";
  options.connect_timeout = engine::kRuntimeConnectTimeout;
  options.max_body = kLongestAnswer;
  options.max_idle = 2;
  return options;
}

Result<net::HttpRequest> request_to(const std::string& address, const RuntimeCredentials& access,
                                    const std::string& path, const std::string& token) {
  // Without an authority no server can be verified, and the token must not reach another one.
  if (access.tls && access.authority.empty()) {
    return Error{Code::kUnavailable,
                 "the authority of its certificate is not known (yet), and it is not called "
                 "without TLS"}
        .in(runtime_at(address));
  }
  net::HttpRequest request;
  request.url = (access.authority.empty() ? "http://" : "https://") + address + path;
  request.idempotent = true;
  request.headers.emplace_back("Authorization", "Bearer " + token);
  return request;
}

Result<net::HttpReply> checked_reply(const std::string& address, Result<net::HttpReply> reply) {
  if (!reply) return std::move(reply).error().in(runtime_at(address));
  if (reply->status < 200 || reply->status > 299) return error_of(*reply).in(runtime_at(address));
  return reply;
}

Result<Json> json_of(const std::string& address, Result<net::HttpReply> reply) {
  TRY(const auto good, checked_reply(address, std::move(reply)));
  auto json = api::parse_json(good.body);
  if (!json) return std::move(json).error().in(runtime_at(address));
  return json;
}

Result<std::vector<JobReport>> decode_job_list(const Json& json) {
  if (!json.is_object() || !json.contains("jobs") || !json["jobs"].is_array()) {
    return Error{Code::kInvalid, "the runtime's list of jobs is invalid"};
  }
  std::vector<JobReport> reports;
  for (const Json& each : json["jobs"]) {
    TRY(JobReport report, decode_job_report(each));
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace paddle::runtime
