// SPDX-License-Identifier: Apache-2.0
//
// What Baidu's object storage (BOS) does differently from S3: the signature of a request, a page of
// its listing, and the code of an error. Answers are untrusted. Pure: the time is an argument.

#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "source/s3/s3_list.h"
#include "source/s3/sigv4.h"

namespace paddle::source {

// The headers that sign a GET as Baidu's own SDK does (bos_test.cc): host, x-bce-date, with
// temporary credentials the session token, and authorization. `path` is encoded as on the wire.
Headers bos_headers(const std::string& host, const std::string& path, const Query& query,
                    const S3Credentials& credentials, WallTime now);

// kInvalid when it is not a listing, or lacks a key, size or etag.
Result<S3Page> parse_bos_page(std::string_view json);

// "NoSuchKey" and the like; empty when there is none.
std::string bos_error_code(std::string_view json);

}  // namespace paddle::source
