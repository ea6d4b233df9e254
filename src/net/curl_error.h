// SPDX-License-Identifier: Apache-2.0
//
// libcurl's error language, translated once. Pure.

#pragma once

#include <string_view>

#include <curl/curl.h>

#include "base/result.h"

namespace paddle::net {

// `detail` is curl's own sentence, when it has one; it names hosts and ports, never credentials.
Error error_of(CURLcode code, std::string_view detail);

}  // namespace paddle::net
