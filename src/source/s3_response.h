// SPDX-License-Identifier: Apache-2.0
//
// Interprets HTTP responses of an S3 server: the only place that translates its status codes. Pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "net/values/http.h"

namespace paddle::source {

// REQUIRES: not a 2xx.
Error s3_error_of(const net::HttpReply& reply);

// Checks that a 2xx response to GET is exactly `size` bytes from `offset` of version `etag`, of
// which `received` bytes arrived. kConflict for another version.
Result<> check_s3_range(const net::HttpReply& reply, std::string_view etag, std::uint64_t offset,
                        std::size_t size, std::size_t received);

}  // namespace paddle::source
