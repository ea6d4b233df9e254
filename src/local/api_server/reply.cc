// SPDX-License-Identifier: Apache-2.0
#include "local/api_server/reply.h"

#include <nlohmann/json.hpp>

namespace paddle::local {
namespace {

using api::Json;

struct Meaning {
  int status;
  const char* reason;
};

Meaning meaning_of(Code code) {
  switch (code) {
    case Code::kNotFound:
      return {404, "NotFound"};
    case Code::kAlreadyExists:
      return {409, "AlreadyExists"};
    case Code::kConflict:
      return {409, "Conflict"};
    case Code::kInvalid:
      return {422, "Invalid"};
    case Code::kUnauthorized:
      return {401, "Unauthorized"};
    case Code::kForbidden:
      return {403, "Forbidden"};
    case Code::kExpired:
      return {410, "Expired"};
    case Code::kThrottled:
      return {429, "TooManyRequests"};
    case Code::kUnavailable:
    case Code::kUntrusted:
    case Code::kCancelled:
      return {503, "ServiceUnavailable"};
    case Code::kDeadline:
      return {504, "Timeout"};
    case Code::kInternal:
      return {500, "InternalError"};
  }
  return {500, "InternalError"};
}

Json details_json(const StatusDetails& subject, const std::vector<Cause>& causes) {
  Json details = Json::object();
  if (!subject.name.empty()) details["name"] = subject.name;
  if (!subject.group.empty()) details["group"] = subject.group;
  if (!subject.plural.empty()) details["kind"] = subject.plural;
  for (const Cause& cause : causes) {
    Json one{{"reason", cause.reason}, {"message", cause.message}};
    if (!cause.field.empty()) one["field"] = cause.field;
    details["causes"].push_back(std::move(one));
  }
  return details;
}

}  // namespace

int http_status(Code code) { return meaning_of(code).status; }
std::string reason_of(Code code) { return meaning_of(code).reason; }

StatusDetails status_details(const kube::Resource& resource, const std::string& name) {
  return {.group = resource.group, .plural = resource.plural, .kind = resource.kind, .name = name};
}

Reply json_reply(int status, const Json& body) {
  return {.status = status, .body = api::dump_json(body) + "\n"};
}

Json status_of(int status, const std::string& reason, const std::string& message,
               const StatusDetails& subject, const std::vector<Cause>& causes) {
  Json made{{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", Json::object()},
            {"status", "Failure"}, {"message", message}, {"reason", reason},
            {"code", status}};
  if (Json details = details_json(subject, causes); !details.empty()) made["details"] = details;
  if (status == 429 || status == 503 || status == 504) made["details"]["retryAfterSeconds"] = 1;
  return made;
}

Json success(const StatusDetails& subject, const std::string& uid) {
  Json details = details_json(subject, {});
  details["uid"] = uid;
  return {{"kind", "Status"},
          {"apiVersion", "v1"},
          {"metadata", Json::object()},
          {"status", "Success"},
          {"details", details}};
}

Reply failure(int status, const std::string& reason, const std::string& message,
              const StatusDetails& subject, const std::vector<Cause>& causes) {
  return json_reply(status, status_of(status, reason, message, subject, causes));
}

Reply failure(const Error& error, const StatusDetails& subject, const std::vector<Cause>& causes) {
  std::string message = error.message;
  StatusDetails target = subject;
  if (error.code == Code::kInvalid && !subject.kind.empty()) {  // as the real server words it
    const std::string whom =
        subject.group.empty() ? subject.kind : subject.kind + "." + subject.group;
    message = whom + " \"" + subject.name + "\" is invalid: " + message;
    target.plural = subject.kind;
  }
  // kubectl shows the causes of an invalid object, and its message only when it has no name.
  if (error.code == Code::kInvalid && causes.empty()) {
    const std::size_t end = error.message.find(": ");
    const bool field = end != std::string::npos && error.message.find(' ') > end;
    const Cause whole{"FieldValueInvalid", field ? error.message.substr(end + 2) : error.message,
                      field ? error.message.substr(0, end) : std::string()};
    return failure(http_status(error.code), reason_of(error.code), message, target, {whole});
  }
  return failure(http_status(error.code), reason_of(error.code), message, target, causes);
}

Reply bad_request(const std::string& message) { return failure(400, "BadRequest", message); }

}  // namespace paddle::local
