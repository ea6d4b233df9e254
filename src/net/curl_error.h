// SPDX-License-Identifier: Apache-2.0
//
// Translates libcurl's error codes into ours, in one place.

#pragma once

#include <string_view>

#include <curl/curl.h>

#include "base/result.h"

namespace paddle::net {

// `detail` is curl's own message, when it has one; it names hosts and ports, never credentials.
Error error_of(CURLcode code, std::string_view detail);

}  // namespace paddle::net
