// SPDX-License-Identifier: Apache-2.0
#include "source/s3/s3_response.h"

#include <string>

#include "base/base64.h"
#include "source/s3/bos.h"
#include "source/s3/s3_list.h"

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

}  // namespace

Error s3_error_of(const net::HttpReply& reply) {
  const std::string s3_code =
      reply.body.starts_with('{') ? bos_error_code(reply.body) : s3_error_code(reply.body);
  Error error{code_of(reply.status, s3_code),
              "the server answered " + std::to_string(reply.status)};
  if (!s3_code.empty()) error.message += " " + s3_code;
  if (reply.status >= 300 && reply.status < 400) {
    error.message += " (a redirect: check endpoint and region)";
  }
  error.retry_after = reply.retry_after;
  return error;
}

bool is_same_version(std::string_view header, std::string_view etag) {
  if (header.starts_with("W/")) header.remove_prefix(2);
  if (header.size() >= 2 && header.front() == '"' && header.back() == '"') {
    header = header.substr(1, header.size() - 2);
  }
  return header == etag;
}

Checksum object_checksum(const net::HttpReply& reply) {
  if (reply.header("x-amz-checksum-type") == "COMPOSITE") return {};
  struct Known {
    ChecksumKind kind;
    std::string_view header;
  };
  // The cheapest first: each of them finds what a wire or a disk does to bytes.
  static constexpr Known kKnown[] = {{ChecksumKind::kCrc64Nvme, "x-amz-checksum-crc64nvme"},
                                     {ChecksumKind::kCrc32c, "x-amz-checksum-crc32c"},
                                     {ChecksumKind::kCrc32, "x-amz-checksum-crc32"},
                                     {ChecksumKind::kSha256, "x-amz-checksum-sha256"},
                                     {ChecksumKind::kSha1, "x-amz-checksum-sha1"}};
  for (const auto& [kind, header] : kKnown) {
    // "base64-3" is a digest of three digests, and no base64.
    auto digest = base64_decode(reply.header(header));
    if (digest && digest->size() == digest_size(kind)) {
      return {.kind = kind, .digest = *std::move(digest)};
    }
  }
  return {};
}

Checksum md5_of_etag(const net::HttpReply& reply, std::string_view etag) {
  const std::string_view encryption = reply.header("x-amz-server-side-encryption");
  if ((!encryption.empty() && encryption != "AES256") ||
      !reply.header("x-amz-server-side-encryption-customer-algorithm").empty()) {
    return {};
  }
  return {.kind = ChecksumKind::kMd5, .digest = md5_in_etag(etag)};
}

}  // namespace paddle::source
