// SPDX-License-Identifier: Apache-2.0
#include "test/support/http.h"

#include <memory>

#include <curl/curl.h>

namespace paddle::test {
namespace {

size_t append(char* data, size_t size, size_t count, void* to) {
  static_cast<std::string*>(to)->append(data, size * count);
  return size * count;
}

struct Cleanup {
  void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

}  // namespace

Result<HttpAnswer> call(const HttpCall& request) {
  const std::unique_ptr<CURL, Cleanup> curl(curl_easy_init());
  if (!curl) return Error{Code::kInternal, "no curl"};
  HttpAnswer answer;
  CURL* const it = curl.get();
  curl_easy_setopt(it, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(it, CURLOPT_PROXY, "");
  curl_easy_setopt(it, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(it, CURLOPT_TIMEOUT_MS, 10'000L);
  curl_easy_setopt(it, CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(it, CURLOPT_WRITEDATA, &answer.body);
  if (!request.ca_path.empty()) curl_easy_setopt(it, CURLOPT_CAINFO, request.ca_path.c_str());
  if (!request.body.empty()) {
    curl_easy_setopt(it, CURLOPT_POSTFIELDSIZE, static_cast<long>(request.body.size()));
    curl_easy_setopt(it, CURLOPT_POSTFIELDS, request.body.c_str());
  }
  std::unique_ptr<curl_slist, Cleanup> headers(
      curl_slist_append(nullptr, "Content-Type: application/json"));
  if (!request.token.empty()) {
    curl_slist_append(headers.get(), ("Authorization: Bearer " + request.token).c_str());
  }
  curl_easy_setopt(it, CURLOPT_HTTPHEADER, headers.get());
  if (const CURLcode code = curl_easy_perform(it); code != CURLE_OK) {
    return Error{Code::kUnavailable, request.url + ": " + curl_easy_strerror(code)};
  }
  curl_easy_getinfo(it, CURLINFO_RESPONSE_CODE, &answer.status);
  return answer;
}

}  // namespace paddle::test
