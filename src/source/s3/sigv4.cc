// SPDX-License-Identifier: Apache-2.0
#include "source/s3/sigv4.h"

#include <algorithm>

#include "source/hash.h"

namespace paddle::source {
namespace {

std::string trimmed(std::string_view value) {
  std::string text;  // runs of spaces count as one
  for (const char c : value) {
    if (c == ' ' && (text.empty() || text.back() == ' ')) continue;
    text += c;
  }
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

}  // namespace

std::string uri_encode(std::string_view text, bool path) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '.' || c == '_' || c == '~' || (path && c == '/');
    if (kept) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += kDigits[byte >> 4];
    encoded += kDigits[byte & 15];
  }
  return encoded;
}

std::string canonical_query(const Query& query) {
  Query encoded;
  for (const auto& [name, value] : query) {
    encoded.emplace_back(uri_encode(name, false), uri_encode(value, false));
  }
  std::sort(encoded.begin(), encoded.end());
  std::string text;
  for (const auto& [name, value] : encoded) {
    if (!text.empty()) text += '&';
    text += name + "=" + value;
  }
  return text;
}

std::string amz_date(WallTime now) {
  std::string text;  // 2013-05-24T00:00:00Z
  for (const char c : rfc3339(now)) {
    if (c != '-' && c != ':') text += c;
  }
  return text;
}

std::string authorization(const SigningRequest& request, const S3Credentials& credentials,
                          const SigningScope& scope) {
  Headers headers = request.headers;
  std::sort(headers.begin(), headers.end());
  std::string lines;
  std::string names;
  for (const auto& [name, value] : headers) {
    lines += name + ":" + trimmed(value) + "\n";
    names += (names.empty() ? "" : ";") + name;
  }
  const std::string canonical = request.method + "\n" + request.path + "\n" +
                                canonical_query(request.query) + "\n" + lines + "\n" + names +
                                "\n" + request.payload_hash;

  const std::string time = amz_date(scope.now);
  const std::string day = time.substr(0, 8);
  const std::string where = day + "/" + scope.region + "/" + scope.service + "/aws4_request";
  const std::string to_sign =
      "AWS4-HMAC-SHA256\n" + time + "\n" + where + "\n" + hex(sha256(canonical));

  const std::string day_key = hmac_sha256("AWS4" + credentials.secret_key, day);
  const std::string service_key = hmac_sha256(hmac_sha256(day_key, scope.region), scope.service);
  const std::string signature = hex(hmac_sha256(hmac_sha256(service_key, "aws4_request"), to_sign));
  return "AWS4-HMAC-SHA256 Credential=" + credentials.access_key + "/" + where +
         ",SignedHeaders=" + names + ",Signature=" + signature;
}

}  // namespace paddle::source
