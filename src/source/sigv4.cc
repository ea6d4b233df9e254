// SPDX-License-Identifier: Apache-2.0
#include "source/sigv4.h"

#include <algorithm>

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace paddle::source {
namespace {

std::string hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string sha256(std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr);
  return {reinterpret_cast<const char*>(digest), size};
}

std::string hmac(std::string_view key, std::string_view text) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest, &size);
  return {reinterpret_cast<const char*>(digest), size};
}

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

  const std::string day_key = hmac("AWS4" + credentials.secret_key, day);
  const std::string service_key = hmac(hmac(day_key, scope.region), scope.service);
  const std::string signature = hex(hmac(hmac(service_key, "aws4_request"), to_sign));
  return "AWS4-HMAC-SHA256 Credential=" + credentials.access_key + "/" + where +
         ",SignedHeaders=" + names + ",Signature=" + signature;
}

}  // namespace paddle::source
