// SPDX-License-Identifier: Apache-2.0
//
// errno as an Error: "open /x: Permission denied".

#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include "base/result.h"

namespace paddle::local {

inline Error os_error(const std::string& doing) {
  return Error{Code::kInternal, doing + ": " + std::strerror(errno)};
}

}  // namespace paddle::local
