// SPDX-License-Identifier: Apache-2.0
#include "source/s3/bos.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/json/json.h"
#include "api/json/look.h"
#include "source/hash.h"
#include "source/path_rules.h"

namespace paddle::source {
namespace {

using api::Json;

constexpr const char* kValidity = "1800";  // seconds for which a signature is good

Error bad_page(std::string what) { return Error{Code::kInvalid, "the listing " + std::move(what)}; }

std::string unquoted(std::string text) {
  std::erase(text, '"');
  return text;
}

Result<S3Object> object_of(const Json& entry) {
  S3Object object{.key = api::look_text(entry, "key"),
                  .etag = unquoted(api::look_text(entry, "eTag"))};
  if (object.key.empty()) return bad_page("has an object without a key");
  const std::int64_t size = api::look_integer(entry, "size", -1);
  if (size < 0) return bad_page("has an object without a size");
  object.size = static_cast<std::uint64_t>(size);
  if (!is_etag(object.etag)) return bad_page("has an object without an etag");
  if (const auto time = parse_rfc3339(api::look_text(entry, "lastModified"))) {
    object.modified = *time;
  }
  return object;
}

}  // namespace

Headers bos_headers(const std::string& host, const std::string& path, const Query& query,
                    const S3Credentials& credentials, WallTime now) {
  const std::string date = rfc3339(now);
  Headers headers{{"host", host}, {"x-bce-date", date}};
  if (!credentials.session_token.empty()) {
    headers.emplace_back("x-bce-security-token", credentials.session_token);
  }
  std::string lines, names;
  for (const auto& [name, value] : headers) {  // in the order of their names
    lines += (lines.empty() ? "" : "\n") + name + ":" + uri_encode(value, false);
    names += (names.empty() ? "" : ";") + name;
  }
  const std::string scope = "bce-auth-v1/" + credentials.access_key + "/" + date + "/" + kValidity;
  const std::string key = hex(hmac_sha256(credentials.secret_key, scope));
  const std::string signature =
      hex(hmac_sha256(key, "GET\n" + path + "\n" + canonical_query(query) + "\n" + lines));
  headers.emplace_back("authorization", scope + "/" + names + "/" + signature);
  return headers;
}

Result<S3Page> parse_bos_page(std::string_view json) {
  const auto listing = api::parse_json(json);
  if (!listing || !listing->is_object() || !listing->contains("contents")) {
    return bad_page("of the server is not one of BOS");
  }
  S3Page page{.truncated = api::look_flag(*listing, "isTruncated")};
  for (const Json& entry : api::look_list(*listing, "contents")) {
    TRY(S3Object object, object_of(entry));
    if (page.first_key.empty()) page.first_key = object.key;
    page.sorted = page.sorted && object.key > page.last_key;
    page.last_key = object.key;
    page.objects.push_back(std::move(object));
  }
  if (!page.truncated) return page;
  page.next = api::look_text(*listing, "nextMarker");
  if (page.next.empty()) page.next = page.last_key;
  if (page.next.empty()) return bad_page("is cut off and does not say where it goes on");
  return page;
}

std::string bos_error_code(std::string_view json) {
  const auto error = api::parse_json(json);
  if (!error || !error->is_object()) return "";
  std::string code = api::look_text(*error, "code");
  const auto plain = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const bool sound = code.size() <= 64 && std::ranges::all_of(code, plain);
  return sound ? code : "";
}

}  // namespace paddle::source
