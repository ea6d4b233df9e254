// SPDX-License-Identifier: Apache-2.0
#include "kube/wire/status.h"

#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

#include "net/values/http.h"

namespace paddle::kube {
namespace {

using std::chrono::milliseconds;

struct Status {
  int code = 0;
  std::string reason{};
  std::string message{};
  std::optional<milliseconds> retry_after{};
  bool version_too_large = false;  // the server's cache has not reached the requested version
};

std::string text_in(const api::Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

Status read(const api::Json& object) {
  Status status;
  if (!object.is_object()) return status;
  status.reason = text_in(object, "reason");
  status.message = text_in(object, "message");
  if (const auto code = object.find("code"); code != object.end() && code->is_number_integer()) {
    status.code = static_cast<int>(std::clamp<std::int64_t>(code->get<std::int64_t>(), 0, 999));
  }
  const auto details = object.find("details");
  if (details != object.end() && details->is_object()) {
    const auto wait = details->find("retryAfterSeconds");
    if (wait != details->end() && wait->is_number_integer()) {
      const auto seconds = std::clamp<std::int64_t>(wait->get<std::int64_t>(), 0, 3600);
      if (seconds > 0) status.retry_after = std::chrono::seconds{seconds};
    }
    const auto causes = details->find("causes");
    if (causes != details->end() && causes->is_array()) {
      status.version_too_large = std::ranges::any_of(*causes, [](const api::Json& cause) {
        return cause.is_object() && text_in(cause, "reason") == "ResourceVersionTooLarge";
      });
    }
  }
  return status;
}

Code code_of(const Status& status) {
  if (status.code < 300) return Code::kInternal;
  if (status.version_too_large) return Code::kExpired;
  if (status.code == 409 && status.reason == "AlreadyExists") return Code::kAlreadyExists;
  if (status.code == 500) {
    const bool later = status.retry_after || status.reason == "ServerTimeout" ||
                       status.reason == "Timeout" || status.reason == "ServiceUnavailable";
    return later ? Code::kUnavailable : Code::kInternal;
  }
  return net::code_of(status.code);
}

Error error_of(const Status& status) {
  return {.code = code_of(status), .message = status.message, .retry_after = status.retry_after};
}

// One short printable line: the body may be a page of HTML.
std::string quoted(std::string_view body) {
  constexpr size_t kLongest = 200;
  std::string out;
  for (const char c : body.substr(0, kLongest)) {
    const char shown = c > ' ' && c <= '~' ? c : ' ';
    if (shown != ' ' || (!out.empty() && out.back() != ' ')) out += shown;
  }
  if (body.size() > kLongest) out += "...";
  return out;
}

}  // namespace

Error error_of_answer(int http_status, std::string_view body,
                      std::optional<milliseconds> retry_after) {
  Status status;
  if (const auto object = api::parse_json(body);
      object && object->is_object() && text_in(*object, "kind") == "Status") {
    status = read(*object);
  }
  status.code = http_status;
  if (retry_after) status.retry_after = retry_after;
  if (status.message.empty()) {
    status.message = "the server answered " + std::to_string(http_status);
    if (!body.empty()) status.message += ": " + quoted(body);
  }
  return error_of(status);
}

Error error_of_status(const api::Json& object) {
  Status status = read(object);
  if (status.code == 0 && (status.reason == "Expired" || status.reason == "Gone"))
    status.code = 410;
  if (status.message.empty()) status.message = "the server sent an error without a message";
  return error_of(status);
}

}  // namespace paddle::kube
