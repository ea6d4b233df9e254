// SPDX-License-Identifier: Apache-2.0
//
// One connection of libcurl: an easy handle, and a multi handle that keeps the connection alive
// between calls and can be woken from another thread. Used by one call at a time. http_loop.h has
// one multi handle for many easy handles instead.

#pragma once

#include <memory>
#include <string>

#include <curl/curl.h>

#include "base/result.h"
#include "net/values/http.h"

namespace paddle::net {

// The state that libcurl's callbacks use during one call; it outlives the transfer.
struct Transfer {
  const HttpRequest* request = nullptr;
  const BodySink* sink = nullptr;  // null: gather the body
  size_t max_body = 0;
  std::stop_token stop{};
  const std::function<bool()>* may_send = nullptr;                       // null or empty: always
  const std::function<Result<>(const HttpReply&)>* on_header = nullptr;  // null or empty: none

  HttpReply reply{};
  std::string retry_after{};
  size_t header_bytes = 0;
  size_t body_bytes = 0;   // of the response, arrived so far
  bool answering = false;  // the final header has ended
  bool enough = false;     // an error's body was cut on purpose
  size_t sent = 0;
  bool sink_failed = false;
  std::optional<Error> failed{};
};

class CurlConnection {
 public:
  // kShared: without a multi handle of its own; the caller adds easy() to one that has others too.
  enum class Multi { kOwn, kShared };
  explicit CurlConnection(Multi multi = Multi::kOwn);
  bool ok() const { return easy_ && (multi_ || shared_); }

  // Sets every option of the next transfer; `proxy` is final (empty = direct).
  Result<> prepare(Transfer& transfer, const HttpOptions& options, const std::string& proxy);

  CURL* easy() { return easy_.get(); }
  CURLM* multi() { return multi_.get(); }
  std::string_view detail() const { return detail_; }  // curl's message about the last failure

 private:
  struct Free {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };
  struct FreeEasy {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  };
  struct FreeMulti {
    void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
  };

  Result<> add_header(const std::string& name, const std::string& value);
  Result<> address(const HttpRequest& request, const TlsOptions& tls);
  void secure(const TlsOptions& tls, bool proxied);
  void method(Transfer& transfer);
  template <typename T>
  void set(CURLoption option, T value);

  const bool shared_;
  // Members are destroyed in reverse: the easy handle before the multi that holds its connection.
  std::unique_ptr<CURLM, FreeMulti> multi_;
  std::unique_ptr<CURL, FreeEasy> easy_;
  std::unique_ptr<curl_slist, Free> headers_;
  std::unique_ptr<curl_slist, Free> connect_to_;
  char detail_[CURL_ERROR_SIZE] = {};
  CURLcode refused_ = CURLE_OK;  // the first option that curl refused
};

}  // namespace paddle::net
