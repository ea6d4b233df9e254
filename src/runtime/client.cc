// SPDX-License-Identifier: Apache-2.0
#include "runtime/client.h"

#include <nlohmann/json.hpp>

namespace paddle::runtime {
namespace {

using api::Json;

constexpr std::size_t kLongestList = std::size_t{1} << 30;

// Runtimes are within the cluster: never through a proxy.
net::HttpOptions options(const RuntimeCredentials& access) {
  net::HttpOptions options;
  options.tls = {.ca_pem = access.authority, .server_name = access.name};
  options.proxy = "";
  options.user_agent = "paddle-operator";
  options.connect_timeout = engine::kRuntimeConnectTimeout;
  options.max_body = std::size_t{4} << 20;
  options.max_idle = 2;
  return options;
}

Error error_of(const net::HttpReply& reply) {
  std::string reason = "it answered " + std::to_string(reply.status);
  if (const auto json = api::parse_json(reply.body); json && json->is_object()) {
    const auto said = json->find("error");
    if (said != json->end() && said->is_string()) reason = said->get<std::string>().substr(0, 500);
  }
  return {net::code_of(reply.status), std::move(reason), reply.retry_after};
}

}  // namespace

bool refuses_access(const Error& error) {
  return error.code == Code::kUnauthorized || error.code == Code::kUntrusted;
}

std::string address_of(const std::string& host) {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(kPort);
}

Client::Client(std::string address, RuntimeCredentials access, std::chrono::milliseconds limit)
    : address_(std::move(address)),
      access_(std::move(access)),
      limit_(limit),
      http_(options(access_)) {}

Client::Client(std::string address, std::string token, std::chrono::milliseconds limit)
    : Client(std::move(address), RuntimeCredentials{.token = std::move(token)}, limit) {}

Result<net::HttpReply> Client::send(net::HttpRequest request, const net::BodySink* sink,
                                    std::stop_token stop) {
  const std::string doing = "runtime at " + address_;
  // Without an authority no server can be verified, and the token must not reach another one.
  if (access_.tls && access_.authority.empty()) {
    return Error{Code::kUnavailable,
                 "the authority of its certificate is not known (yet), and it is not called "
                 "without TLS"}
        .in(doing);
  }
  request.url = (access_.authority.empty() ? "http://" : "https://") + address_ + request.url;
  request.idempotent = true;
  if (!request.body.empty()) request.headers.emplace_back("Content-Type", "application/json");
  request.headers.emplace_back("Authorization", "Bearer " + access_.token);
  net::HttpCall call;
  call.timeout = limit_;
  call.stop = std::move(stop);
  const auto once = [&] {
    return sink ? http_.stream(request, *sink, call) : http_.send(request, call);
  };
  auto reply = once();
  if (reply && reply->status == 401 && !access_.token_before.empty()) {
    request.headers.back().second = "Bearer " + access_.token_before;
    reply = once();
  }
  if (!reply) return std::move(reply).error().in(doing);
  if (reply->status < 200 || reply->status > 299) return error_of(*reply).in(doing);
  return reply;
}

Result<Json> Client::request_json(const std::string& method, const std::string& path,
                                  std::string body, std::stop_token stop) {
  TRY(const auto reply,
      send({.method = method, .url = path, .body = std::move(body)}, nullptr, std::move(stop)));
  auto json = api::parse_json(reply.body);
  if (!json) return std::move(json).error().in("runtime at " + address_);
  return json;
}

Result<JobReport> Client::put_job(const std::string& id, const JobRequest& request,
                                  std::stop_token stop) {
  if (!is_job_id(id)) return Error{Code::kInvalid, "not a valid id of a job"};
  TRY(const Json json,
      request_json("PUT", "/v1/jobs/" + id, api::dump_json(encode(request)), std::move(stop)));
  return decode_job_report(json);
}

Result<JobReport> Client::job(const std::string& id, std::stop_token stop) {
  if (!is_job_id(id)) return Error{Code::kInvalid, "not a valid id of a job"};
  TRY(const Json json, request_json("GET", "/v1/jobs/" + id, {}, std::move(stop)));
  return decode_job_report(json);
}

Result<std::vector<JobReport>> Client::jobs(std::stop_token stop) {
  TRY(const Json json, request_json("GET", "/v1/jobs", {}, std::move(stop)));
  std::vector<JobReport> reports;
  if (!json.is_object() || !json.contains("jobs") || !json["jobs"].is_array()) {
    return Error{Code::kInvalid, "the runtime's list of jobs is invalid"};
  }
  for (const Json& each : json["jobs"]) {
    TRY(JobReport report, decode_job_report(each));
    reports.push_back(std::move(report));
  }
  return reports;
}

Result<> Client::cancel(const std::string& id, std::stop_token stop) {
  if (!is_job_id(id)) return Error{Code::kInvalid, "not a valid id of a job"};
  TRY(const Json json, request_json("DELETE", "/v1/jobs/" + id, {}, std::move(stop)));
  (void)json;
  return Done{};
}

Result<StatusReport> Client::status(std::stop_token stop) {
  TRY(const Json json, request_json("GET", "/v1/status", {}, std::move(stop)));
  return decode_status_report(json);
}

Result<std::string> Client::list(const std::string& job, std::int32_t partition,
                                 std::stop_token stop) {
  if (!is_job_id(job)) return Error{Code::kInvalid, "not a valid id of a job"};
  std::string text;
  const net::BodySink sink = [&](std::string_view piece) -> Result<> {
    if (text.size() + piece.size() > kLongestList) {
      return Error{Code::kInvalid, "the list is too long"};
    }
    text += piece;
    return Done{};
  };
  TRY(const auto reply,
      send({.url = "/v1/lists/" + job + "/" + std::to_string(partition)}, &sink, std::move(stop)));
  (void)reply;
  return text;
}

}  // namespace paddle::runtime
