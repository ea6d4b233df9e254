// SPDX-License-Identifier: Apache-2.0
//
// Interprets HTTP responses of S3 and BOS: the only place that translates their status codes and
// headers. Pure.

#pragma once

#include <string_view>

#include "base/result.h"
#include "net/values/http.h"
#include "source/checksum.h"

namespace paddle::source {

// REQUIRES: not a 2xx.
Error s3_error_of(const net::HttpReply& reply);

// Whether an ETag header names that version.
bool is_same_version(std::string_view header, std::string_view etag);

// The checksum of the whole object in x-amz-checksum-*. A digest of the digests of its parts is no
// checksum of the body, and is ignored.
Checksum object_checksum(const net::HttpReply& reply);

// The ETag as an MD5 of the object, if it may be one: 32 hexadecimal digits, and the server does
// not say that it encrypts with keys that make it another number.
Checksum md5_of_etag(const net::HttpReply& reply, std::string_view etag);

}  // namespace paddle::source
