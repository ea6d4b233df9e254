// SPDX-License-Identifier: Apache-2.0
#include "source/s3_response.h"

#include <string>

#include "source/s3_list.h"

namespace paddle::source {
namespace {

// Expired or wrong session tokens: AWS returns 400, other servers 403.
bool is_about_token(std::string_view s3_code) {
  return s3_code == "ExpiredToken" || s3_code == "InvalidToken" ||
         s3_code == "TokenRefreshRequired";
}

Code code_of(int status, std::string_view s3_code) {
  if (s3_code == "SlowDown" || s3_code == "ThrottlingException") return Code::kThrottled;
  if (s3_code == "RequestTimeout" || s3_code == "InternalError") return Code::kUnavailable;
  if (is_about_token(s3_code)) return Code::kUnauthorized;
  if (status == 408) return Code::kUnavailable;
  if (status == 409 || status == 410) return Code::kInvalid;
  return net::code_of(status);
}

bool same_version(std::string_view header, std::string_view etag) {
  if (header.starts_with("W/")) header.remove_prefix(2);
  if (header.size() >= 2 && header.front() == '"' && header.back() == '"') {
    header = header.substr(1, header.size() - 2);
  }
  return header == etag;
}

}  // namespace

Error s3_error_of(const net::HttpReply& reply) {
  const std::string s3_code = s3_error_code(reply.body);
  Error error{code_of(reply.status, s3_code),
              "the server answered " + std::to_string(reply.status)};
  if (!s3_code.empty()) error.message += " " + s3_code;
  if (reply.status >= 300 && reply.status < 400) {
    error.message += " (a redirect: check endpoint and region)";
  }
  error.retry_after = reply.retry_after;
  return error;
}

Result<> check_s3_range(const net::HttpReply& reply, std::string_view etag, std::uint64_t offset,
                        std::size_t size, std::size_t received) {
  if (!reply.etag.empty() && !same_version(reply.etag, etag)) {
    return Error{Code::kConflict, "the object has changed"};
  }
  if (reply.status == 206) {
    const std::string range =
        "bytes " + std::to_string(offset) + "-" + std::to_string(offset + size - 1) + "/";
    if (!reply.content_range.starts_with(range)) {
      return Error{Code::kInvalid, "the server sent another range than requested"};
    }
  } else if (offset != 0) {
    return Error{Code::kInvalid, "the server does not support ranges"};
  }
  if (received != size) {
    return Error{Code::kUnavailable, "the server sent fewer bytes than requested"};
  }
  return Done{};
}

}  // namespace paddle::source
