// SPDX-License-Identifier: Apache-2.0
#include "net/values/http.h"

namespace paddle::net {

Code code_of(int status) {
  switch (status) {
    case 401:
      return Code::kUnauthorized;
    case 403:
      return Code::kForbidden;
    case 404:
      return Code::kNotFound;
    case 409:
    case 412:
      return Code::kConflict;
    case 410:
      return Code::kExpired;
    case 429:
      return Code::kThrottled;
    default:
      return status >= 500 ? Code::kUnavailable : Code::kInvalid;
  }
}

std::string_view HttpReply::header(std::string_view name) const {
  for (const auto& [known, value] : headers) {
    if (known == name) return value;
  }
  return {};
}

}  // namespace paddle::net
