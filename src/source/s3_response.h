// SPDX-License-Identifier: Apache-2.0
//
// What an HTTP answer of an S3 server means: the one place where its status codes become ours.
// Pure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "net/values/http.h"

namespace paddle::source {

// REQUIRES: not a 2xx.
Error s3_error_of(const net::HttpReply& reply);

// Whether this 2xx answer to GET holds exactly `size` bytes from `offset` of version `etag`,
// `received` bytes having arrived. kConflict for another version.
Result<> check_s3_range(const net::HttpReply& reply, std::string_view etag, std::uint64_t offset,
                        std::size_t size, std::size_t received);

}  // namespace paddle::source
