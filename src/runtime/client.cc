// SPDX-License-Identifier: Apache-2.0
#include "runtime/client.h"

#include <nlohmann/json.hpp>

namespace paddle::runtime {
namespace {

using api::Json;

// Runtimes are within the cluster: never through a proxy.
net::HttpOptions options() {
  net::HttpOptions options;
  options.proxy = "";
  options.user_agent = "paddle-operator";
  options.connect_timeout = std::chrono::seconds{3};
  options.max_body = std::size_t{4} << 20;
  options.max_idle = 2;
  return options;
}

Code code_of(int status) {
  switch (status) {
    case 401:
      return Code::kUnauthorized;
    case 403:
      return Code::kForbidden;
    case 404:
      return Code::kNotFound;
    case 409:
      return Code::kConflict;
    case 429:
      return Code::kThrottled;
    default:
      return status >= 500 ? Code::kUnavailable : Code::kInvalid;
  }
}

Error error_of(const net::HttpReply& reply) {
  std::string reason = "it answered " + std::to_string(reply.status);
  if (const auto json = api::parse_json(reply.body); json && json->is_object()) {
    const auto said = json->find("error");
    if (said != json->end() && said->is_string()) reason = said->get<std::string>().substr(0, 500);
  }
  return {code_of(reply.status), std::move(reason), reply.retry_after};
}

}  // namespace

Client::Client(std::string address, std::string token, std::chrono::milliseconds limit)
    : origin_("http://" + std::move(address)),
      token_(std::move(token)),
      limit_(limit),
      http_(options()) {}

Result<Json> Client::ask(const std::string& method, const std::string& path, std::string body,
                         std::stop_token stop) {
  net::HttpRequest request{.method = method,
                           .url = origin_ + path,
                           .headers = {{"Authorization", "Bearer " + token_}},
                           .body = std::move(body),
                           .idempotent = true};
  if (!request.body.empty()) request.headers.emplace_back("Content-Type", "application/json");
  net::HttpCall call;
  call.timeout = limit_;
  call.stop = std::move(stop);
  auto reply = http_.send(request, call);
  const std::string doing = "runtime at " + origin_.substr(7);
  if (!reply) return std::move(reply).error().in(doing);
  if (reply->status < 200 || reply->status > 299) return error_of(*reply).in(doing);
  auto json = api::parse_json(reply->body);
  if (!json) return std::move(json).error().in(doing);
  return json;
}

Result<JobReport> Client::put_job(const std::string& id, const JobRequest& request,
                                  std::stop_token stop) {
  if (!is_job_id(id)) return Error{Code::kInvalid, "that is no id of a job"};
  TRY(const Json json,
      ask("PUT", "/v1/jobs/" + id, api::dump_json(encode(request)), std::move(stop)));
  return decode_job_report(json);
}

Result<JobReport> Client::job(const std::string& id, std::stop_token stop) {
  if (!is_job_id(id)) return Error{Code::kInvalid, "that is no id of a job"};
  TRY(const Json json, ask("GET", "/v1/jobs/" + id, {}, std::move(stop)));
  return decode_job_report(json);
}

Result<std::vector<JobReport>> Client::jobs(std::stop_token stop) {
  TRY(const Json json, ask("GET", "/v1/jobs", {}, std::move(stop)));
  std::vector<JobReport> reports;
  if (!json.is_object() || !json.contains("jobs") || !json["jobs"].is_array()) {
    return Error{Code::kInvalid, "the runtime's list of jobs is none"};
  }
  for (const Json& each : json["jobs"]) {
    TRY(JobReport report, decode_job_report(each));
    reports.push_back(std::move(report));
  }
  return reports;
}

Result<> Client::cancel(const std::string& id, std::stop_token stop) {
  if (!is_job_id(id)) return Error{Code::kInvalid, "that is no id of a job"};
  TRY(const Json json, ask("DELETE", "/v1/jobs/" + id, {}, std::move(stop)));
  (void)json;
  return Done{};
}

Result<StatusReport> Client::status(std::stop_token stop) {
  TRY(const Json json, ask("GET", "/v1/status", {}, std::move(stop)));
  return decode_status_report(json);
}

}  // namespace paddle::runtime
