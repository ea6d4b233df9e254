// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

namespace paddle {

std::string_view name(Code code) {
  switch (code) {
    case Code::kNotFound:
      return "NotFound";
    case Code::kAlreadyExists:
      return "AlreadyExists";
    case Code::kConflict:
      return "Conflict";
    case Code::kInvalid:
      return "Invalid";
    case Code::kUnauthorized:
      return "Unauthorized";
    case Code::kForbidden:
      return "Forbidden";
    case Code::kExpired:
      return "Expired";
    case Code::kThrottled:
      return "Throttled";
    case Code::kUnavailable:
      return "Unavailable";
    case Code::kUntrusted:
      return "Untrusted";
    case Code::kDeadline:
      return "Deadline";
    case Code::kCancelled:
      return "Cancelled";
    case Code::kInternal:
      return "Internal";
  }
  return "Unknown";
}

}  // namespace paddle
