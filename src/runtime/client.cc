// SPDX-License-Identifier: Apache-2.0
#include "runtime/client.h"

#include <nlohmann/json.hpp>

#include "runtime/requests.h"

namespace paddle::runtime {
namespace {

using api::Json;

constexpr std::size_t kLongestList = std::size_t{1} << 30;

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
      http_(http_options(access_)) {}

Client::Client(std::string address, std::string token, std::chrono::milliseconds limit)
    : Client(std::move(address), RuntimeCredentials{.token = std::move(token)}, limit) {}

Result<net::HttpReply> Client::send(net::HttpRequest request, const net::BodySink* sink,
                                    std::stop_token stop) {
  TRY(net::HttpRequest prepared, request_to(address_, access_, request.url, access_.token));
  prepared.method = request.method;
  prepared.body = std::move(request.body);
  const std::size_t authorization = prepared.headers.size() - 1;
  if (!prepared.body.empty()) prepared.headers.emplace_back("Content-Type", "application/json");
  net::HttpCall call;
  call.timeout = limit_;
  call.stop = std::move(stop);
  const auto once = [&] {
    return sink ? http_.stream(prepared, *sink, call) : http_.send(prepared, call);
  };
  auto reply = once();
  if (reply && reply->status == 401 && !access_.token_before.empty()) {
    prepared.headers[authorization].second = "Bearer " + access_.token_before;
    reply = once();
  }
  return checked_reply(address_, std::move(reply));
}

Result<Json> Client::request_json(const std::string& method, const std::string& path,
                                  std::string body, std::stop_token stop) {
  return json_of(address_, send({.method = method, .url = path, .body = std::move(body)}, nullptr,
                                std::move(stop)));
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
  return decode_job_list(json);
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
