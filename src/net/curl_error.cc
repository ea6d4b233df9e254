// SPDX-License-Identifier: Apache-2.0
#include "net/curl_error.h"

#include <string>

namespace paddle::net {
namespace {

struct Meaning {
  Code code = Code::kUnavailable;
  std::string_view sentence{};
};

Meaning meaning_of(CURLcode code) {
  switch (code) {
    case CURLE_URL_MALFORMAT:
      return {Code::kInvalid, "the URL is not usable"};
    case CURLE_SSL_CERTPROBLEM:
      return {Code::kInvalid, "the client certificate or key is not usable"};
    case CURLE_SSL_CACERT_BADFILE:
      return {Code::kInvalid, "the CA certificate is not usable"};
    case CURLE_SSL_ENGINE_NOTFOUND:
    case CURLE_SSL_ENGINE_SETFAILED:
    case CURLE_SSL_CIPHER:
    case CURLE_BAD_FUNCTION_ARGUMENT:
      return {Code::kInvalid, "the TLS options are not usable"};

    case CURLE_COULDNT_RESOLVE_HOST:
      return {Code::kUnavailable, "cannot resolve the server's name"};
    case CURLE_COULDNT_RESOLVE_PROXY:
      return {Code::kUnavailable, "cannot resolve the proxy's name"};
    case CURLE_COULDNT_CONNECT:
      return {Code::kUnavailable, "cannot connect"};
    case CURLE_OPERATION_TIMEDOUT:
      return {Code::kUnavailable, "cannot connect in time"};
    case CURLE_PROXY:
      return {Code::kUnavailable, "the proxy refused"};
    case CURLE_PEER_FAILED_VERIFICATION:
      return {Code::kUntrusted, "the server's certificate is not trusted"};
    case CURLE_SSL_CONNECT_ERROR:
      return {Code::kUnavailable, "the TLS handshake failed"};
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_FAIL_REWIND:
      return {Code::kUnavailable, "the connection broke before the response was complete"};
    case CURLE_UNSUPPORTED_PROTOCOL:  // bytes that are no status line; our own URLs are http(s)
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_HTTP2:
      return {Code::kUnavailable, "the response is not HTTP/1.1"};
    default:
      return {Code::kInternal, "the transfer failed"};
  }
}

}  // namespace

Error error_of(CURLcode code, std::string_view detail) {
  const Meaning meaning = meaning_of(code);
  Error error{meaning.code, std::string(meaning.sentence)};
  const std::string_view reason = detail.empty() ? curl_easy_strerror(code) : detail;
  error.message.append(" (").append(reason).append(")");
  return error;
}

}  // namespace paddle::net
