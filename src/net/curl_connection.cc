// SPDX-License-Identifier: Apache-2.0
#include "net/curl_connection.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "net/curl_error.h"
#include "net/values/proxy.h"
#include "net/values/url.h"

namespace paddle::net {
namespace {

constexpr size_t kMaxHeaderBytes = size_t{256} << 10;

bool ok_status(int status) { return status >= 200 && status < 300; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_name(std::string_view name, std::string_view expected) {
  return std::equal(name.begin(), name.end(), expected.begin(), expected.end(),
                    [](char a, char b) { return lower(a) == b; });
}

// libcurl's sockets would be inherited by credential plugins.
curl_socket_t open_socket(void*, curlsocktype, curl_sockaddr* address) {
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// A silent peer is probed after 10 s and given up after 30 s without an answer.
int tune_socket(void*, curl_socket_t fd, curlsocktype) {
  const auto option = [fd](int level, int name, int value) {
    setsockopt(fd, level, name, &value, sizeof value);
  };
  option(SOL_SOCKET, SO_KEEPALIVE, 1);
  option(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  option(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  option(IPPROTO_TCP, TCP_KEEPCNT, 4);
  option(IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
  return CURL_SOCKOPT_OK;
}

// Whether the caller accepts the header that has just ended.
bool is_accepted(Transfer& transfer) noexcept {
  try {
    if (!transfer.on_header || !*transfer.on_header) return true;
    auto done = (*transfer.on_header)(transfer.reply);
    if (done) return true;
    transfer.failed = std::move(done).error();
    transfer.sink_failed = true;
  } catch (...) {
    transfer.failed = Error{Code::kInternal, "out of memory, or on_header has thrown"};
  }
  return false;
}

size_t on_header(char* data, size_t, size_t size, void* given) {
  auto& transfer = *static_cast<Transfer*>(given);
  const std::string_view line(data, size);
  transfer.header_bytes += size;
  if (transfer.header_bytes > kMaxHeaderBytes) {
    transfer.failed = Error{Code::kInvalid, "the header of the response is larger than 256 KiB"};
    return 0;
  }
  if (transfer.answering) return size;  // a trailer
  HttpReply& reply = transfer.reply;
  if (line.starts_with("HTTP/")) {
    reply = {};
    transfer.retry_after.clear();
    const size_t space = line.find(' ');
    if (space != std::string_view::npos) reply.status = std::atoi(data + space);
    return size;
  }
  if (trimmed(line).empty()) {
    transfer.answering = reply.status >= 200;
    return !transfer.answering || is_accepted(transfer) ? size : 0;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size;
  const auto name = line.substr(0, colon);
  const auto value = trimmed(line.substr(colon + 1));
  std::string& known = reply.headers.emplace_back(name, value).first;
  std::ranges::transform(known, known.begin(), lower);
  if (same_name(name, "retry-after")) transfer.retry_after = value;
  if (same_name(name, "content-type")) reply.content_type = value;
  if (same_name(name, "location")) reply.location = value;
  if (same_name(name, "etag")) reply.etag = value;
  if (same_name(name, "content-range")) reply.content_range = value;
  return size;
}

// Runs under C frames: nothing may be thrown past it.
size_t on_body(char* data, size_t, size_t size, void* given) noexcept {
  auto& transfer = *static_cast<Transfer*>(given);
  transfer.body_bytes += size;
  try {
    if (transfer.sink && ok_status(transfer.reply.status)) {
      if (transfer.stop.stop_requested()) return CURL_WRITEFUNC_ERROR;
      if (auto done = (*transfer.sink)({data, size}); !done) {
        transfer.failed = std::move(done).error();
        transfer.sink_failed = true;
        return CURL_WRITEFUNC_ERROR;
      }
      return size;
    }
    std::string& body = transfer.reply.body;
    const size_t room = transfer.max_body - std::min(transfer.max_body, body.size());
    body.append(data, std::min(size, room));
    if (size <= room) return size;
    if (ok_status(transfer.reply.status)) {
      transfer.failed = Error{Code::kInvalid, "the response is larger than " +
                                                  std::to_string(transfer.max_body) + " bytes"};
    }
    transfer.enough = true;
  } catch (...) {
    transfer.failed = Error{Code::kInternal, "out of memory, or a sink has thrown"};
  }
  return CURL_WRITEFUNC_ERROR;
}

// Immediately before bytes are sent: a request that was delayed too long is not sent.
bool forbidden(Transfer& transfer) noexcept {
  try {
    if (!transfer.may_send || !*transfer.may_send || (*transfer.may_send)()) return false;
    transfer.failed = Error{Code::kCancelled, "not sent: the caller may not send any more"};
  } catch (...) {
    transfer.failed = Error{Code::kInternal, "may_send has thrown"};
  }
  return true;
}

int before_request(void* given, char*, char*, int, int) {
  return forbidden(*static_cast<Transfer*>(given)) ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

size_t give_body(char* into, size_t, size_t room, void* given) {
  auto& transfer = *static_cast<Transfer*>(given);
  if (forbidden(transfer)) return CURL_READFUNC_ABORT;
  const std::string& body = transfer.request->body;
  const size_t size = std::min(room, body.size() - transfer.sent);
  // NOLINTNEXTLINE(bugprone-not-null-terminated-result): curl counts the bytes
  std::memcpy(into, body.data() + transfer.sent, size);
  transfer.sent += size;
  return size;
}

// libcurl sends a request again, with any method, when a reused connection dies before a response.
// It has to rewind the body for that; this refuses it for a request that must not be sent twice.
int rewind_body(void* given, curl_off_t offset, int origin) {
  auto& transfer = *static_cast<Transfer*>(given);
  if (origin != SEEK_SET || offset < 0) return CURL_SEEKFUNC_FAIL;
  if (transfer.sent > 0 && !transfer.request->idempotent) return CURL_SEEKFUNC_FAIL;
  transfer.sent = std::min(static_cast<size_t>(offset), transfer.request->body.size());
  return CURL_SEEKFUNC_OK;
}

}  // namespace

CurlConnection::CurlConnection(Multi multi)
    : shared_(multi == Multi::kShared),
      multi_(shared_ ? nullptr : curl_multi_init()),
      easy_(curl_easy_init()) {
  if (multi_) curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, 1L);
}

template <typename T>
void CurlConnection::set(CURLoption option, T value) {
  const CURLcode code = curl_easy_setopt(easy_.get(), option, value);
  if (refused_ == CURLE_OK) refused_ = code;
}

Result<> CurlConnection::prepare(Transfer& transfer, const HttpOptions& options,
                                 const std::string& proxy) {
  curl_easy_reset(easy_.get());
  headers_.reset();
  connect_to_.reset();
  detail_[0] = '\0';
  refused_ = CURLE_OK;

  CHECK_DONE(address(*transfer.request, options.tls));
  for (const auto& [name, value] : transfer.request->headers) CHECK_DONE(add_header(name, value));
  CHECK_DONE(add_header("Expect", ""));  // do not wait for 100-continue
  set(CURLOPT_HTTPHEADER, headers_.get());

  set(CURLOPT_ERRORBUFFER, static_cast<char*>(detail_));
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);  // a stop does not wait for the resolver
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_USERAGENT, options.user_agent.c_str());
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_timeout.count()));
  // Old connections are not reused, so that rotated certificates and new servers are used.
  set(CURLOPT_MAXAGE_CONN, 60L);
  set(CURLOPT_MAXLIFETIME_CONN, 600L);
  set(CURLOPT_OPENSOCKETFUNCTION, &open_socket);
  set(CURLOPT_SOCKOPTFUNCTION, &tune_socket);
  set(CURLOPT_PROXY, curl_proxy(proxy).c_str());
  set(CURLOPT_NOPROXY, "");  // decided already
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  secure(options.tls, !proxy.empty());

  set(CURLOPT_PREREQFUNCTION, &before_request);
  set(CURLOPT_PREREQDATA, static_cast<void*>(&transfer));
  set(CURLOPT_HEADERFUNCTION, &on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
  set(CURLOPT_WRITEFUNCTION, &on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
  method(transfer);
  if (refused_ != CURLE_OK) return error_of(refused_, "libcurl refused an option");
  return Done{};
}

Result<> CurlConnection::add_header(const std::string& name, const std::string& value) {
  const auto printable = [](std::string_view text) {
    return std::none_of(text.begin(), text.end(),
                        [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
  };
  if (name.empty() || !printable(name) || !printable(value) ||
      name.find(':') != std::string::npos) {
    return Error{Code::kInvalid, "the value of a header contains control characters"};
  }
  curl_slist* longer =
      curl_slist_append(headers_.get(), (name + ":" + (value.empty() ? "" : " ") + value).c_str());
  if (!longer) return Error{Code::kInternal, "out of memory"};
  (void)headers_.release();
  headers_.reset(longer);
  return Done{};
}

// A server name that differs from the host: verify the name, connect to the host.
Result<> CurlConnection::address(const HttpRequest& request, const TlsOptions& tls) {
  TRY(const Origin origin, origin_of(request.url));
  std::string url = request.url;
  if (!tls.server_name.empty() && origin.scheme == "https") {
    const std::string host =
        origin.host.find(':') == std::string::npos ? origin.host : "[" + origin.host + "]";
    const size_t path = url.find('/', url.find("://") + 3);
    url = "https://" + tls.server_name + ":" + origin.port +
          (path == std::string::npos ? "" : url.substr(path));
    connect_to_.reset(curl_slist_append(nullptr, ("::" + host + ":" + origin.port).c_str()));
    set(CURLOPT_CONNECT_TO, connect_to_.get());
    CHECK_DONE(add_header("Host", origin.port == "443" ? host : host + ":" + origin.port));
  }
  set(CURLOPT_URL, url.c_str());
  return Done{};
}

void CurlConnection::secure(const TlsOptions& tls, bool proxied) {
  const auto blob = [this](CURLoption option, const std::string& pem) {
    // NOLINTNEXTLINE: curl takes a non-const pointer and, told to copy, only reads it.
    curl_blob text{const_cast<char*>(pem.data()), pem.size(), CURL_BLOB_COPY};
    set(option, &text);
  };
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(CURLOPT_CA_CACHE_TIMEOUT, 0L);
  set(CURLOPT_SSL_VERIFYPEER, tls.insecure ? 0L : 1L);
  set(CURLOPT_SSL_VERIFYHOST, tls.insecure ? 0L : 2L);
  if (!tls.ca_pem.empty() || !tls.ca_file.empty()) {
    const char* none = nullptr;  // otherwise libcurl would also trust the system's directory
    set(CURLOPT_CAPATH, none);
    if (proxied) set(CURLOPT_PROXY_CAPATH, none);
    if (!tls.ca_pem.empty()) {
      blob(CURLOPT_CAINFO_BLOB, tls.ca_pem);
      if (proxied) blob(CURLOPT_PROXY_CAINFO_BLOB, tls.ca_pem);
    } else {
      set(CURLOPT_CAINFO, tls.ca_file.c_str());
      if (proxied) set(CURLOPT_PROXY_CAINFO, tls.ca_file.c_str());
    }
  }
  if (!tls.cert_pem.empty()) {
    blob(CURLOPT_SSLCERT_BLOB, tls.cert_pem);
  } else if (!tls.cert_file.empty()) {
    set(CURLOPT_SSLCERT, tls.cert_file.c_str());
  }
  if (!tls.key_pem.empty()) {
    blob(CURLOPT_SSLKEY_BLOB, tls.key_pem);
  } else if (!tls.key_file.empty()) {
    set(CURLOPT_SSLKEY, tls.key_file.c_str());
  }
  set(CURLOPT_KEYPASSWD, "");  // an encrypted key is an error, never a prompt
}

void CurlConnection::method(Transfer& transfer) {
  const HttpRequest& request = *transfer.request;
  if (request.method == "HEAD") {
    set(CURLOPT_NOBODY, 1L);
  } else if (request.method == "GET" && request.body.empty()) {
    set(CURLOPT_HTTPGET, 1L);
  } else {
    set(CURLOPT_POST, 1L);
    set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(CURLOPT_READFUNCTION, &give_body);
    set(CURLOPT_READDATA, static_cast<void*>(&transfer));
    set(CURLOPT_SEEKFUNCTION, &rewind_body);
    set(CURLOPT_SEEKDATA, static_cast<void*>(&transfer));
  }
}

}  // namespace paddle::net
