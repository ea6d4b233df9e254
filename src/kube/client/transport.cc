// SPDX-License-Identifier: Apache-2.0
#include "kube/client/transport.h"

#include "base/base64.h"
#include "kube/wire/status.h"
#include "net/values/url.h"

namespace paddle::kube {
namespace {

using std::chrono::milliseconds;

bool ok(int status) { return status >= 200 && status < 300; }

// A server, or something in its place, may quote our credentials in its error.
Error without_secret(Error error, const std::string& secret) {
  if (secret.size() < 4) return error;
  for (size_t at = 0; (at = error.message.find(secret, at)) != std::string::npos;) {
    error.message.replace(at, secret.size(), "<redacted>");
  }
  return error;
}

Error redacted(Error error, const Credential& credential) {
  return without_secret(without_secret(std::move(error), credential.token), credential.password);
}

}  // namespace

Transport::Transport(Config config, TransportOptions options)
    : config_(std::move(config)),
      options_(std::move(options)),
      clock_(*options_.clock),
      random_(*options_.random),
      credentials_(credentials_of(config_, clock_)),
      gate_(clock_, random_) {}

Result<net::HttpReply> Transport::send(const ApiRequest& request, milliseconds timeout,
                                       std::stop_token stop) {
  return exchange(request, nullptr, timeout, stop);
}

Result<net::HttpReply> Transport::stream(const ApiRequest& request, const net::BodySink& sink,
                                         milliseconds timeout, std::stop_token stop) {
  return exchange(request, &sink, timeout, stop);
}

Result<net::HttpReply> Transport::exchange(const ApiRequest& request, const net::BodySink* sink,
                                           milliseconds timeout, const std::stop_token& stop) {
  const BootTime deadline = clock_.boot() + timeout;
  const auto left = [&] { return std::chrono::ceil<milliseconds>(deadline - clock_.boot()); };
  bool refreshed = false;
  for (int number = 1;; ++number) {
    for (auto wait = gate_.wait_for(request.resource); wait.count() > 0;
         wait = gate_.wait_for(request.resource)) {
      if (wait >= left()) {
        return Error{Code::kThrottled, "the server requests a longer pause than this call may take",
                     wait};
      }
      CHECK_DONE(pause(wait, stop));
    }
    if (left().count() <= 0) return Error{Code::kDeadline, "no time left to send the request"};
    TRY(const Credential credential, credentials_->current(left(), stop));
    auto reply = attempt(request, sink, credential, left(), stop);
    if (!reply) return redacted(std::move(reply).error(), credential);
    if (ok(reply->status)) return reply;

    if (reply->status == 401 && !refreshed && credentials_->refused(credential)) {
      refreshed = true;
      continue;
    }
    const auto wait = pause_before_retry({.attempt = number,
                                          .status = reply->status,
                                          .retry_after = reply->retry_after,
                                          .read_only = request.method == "GET",
                                          .left = left(),
                                          .random = random_.uniform()});
    if (reply->status == 429) gate_.close(request.resource, throttle_pause(reply->retry_after));
    if (!wait) {
      Error error = error_of_answer(reply->status, reply->body, reply->retry_after);
      if (!reply->location.empty()) {
        error.message = "the server redirects to " + net::without_secrets(reply->location) +
                        ", which is not followed";
      }
      return redacted(std::move(error), credential);
    }
    CHECK_DONE(pause(*wait, stop));
  }
}

Result<net::HttpReply> Transport::attempt(const ApiRequest& request, const net::BodySink* sink,
                                          const Credential& credential, milliseconds left,
                                          const std::stop_token& stop) {
  const BootTime begun = clock_.boot();
  const auto http = http_for(credential);
  const bool lives_on = request.life.count() > 0;
  const net::HttpCall call{.timeout = lives_on ? request.life : left,
                           .header_timeout = lives_on ? left : milliseconds{0},
                           .stop = stop,
                           .may_send = request.may_send};
  const auto http_request = http_request_of(request, credential);
  auto reply = sink ? http->stream(http_request, *sink, call) : http->send(http_request, call);
  count(request, reply ? std::to_string(reply->status) : std::string(name(reply.error().code)),
        begun);
  return reply;
}

Result<> Transport::pause(milliseconds wait, const std::stop_token& stop) const {
  if (!clock_.sleep(wait, stop)) return Error{Code::kCancelled, "stopped"};
  return Done{};
}

std::shared_ptr<net::HttpClient> Transport::http_for(const Credential& credential) {
  const Lock lock(mutex_);
  if (!http_ || cert_pem_ != credential.cert_pem) {
    net::HttpOptions options{.tls = config_.tls,
                             .proxy = config_.proxy,
                             .user_agent = options_.user_agent,
                             .max_body = options_.max_body};
    if (!credential.cert_pem.empty()) {
      options.tls.cert_pem = credential.cert_pem;
      options.tls.key_pem = credential.key_pem;
    }
    http_ = std::make_shared<net::HttpClient>(std::move(options), clock_);
    cert_pem_ = credential.cert_pem;
  }
  return http_;
}

net::HttpRequest Transport::http_request_of(const ApiRequest& request,
                                            const Credential& credential) const {
  net::HttpRequest http_request{.method = request.method,
                                .url = config_.server + request.path,
                                .headers = {{"Accept", request.accept}},
                                .body = request.body,
                                .idempotent = request.idempotent};
  const auto add = [&](const std::string& name, const std::string& value) {
    http_request.headers.emplace_back(name, value);
  };
  if (!request.content_type.empty()) add("Content-Type", request.content_type);
  if (!credential.token.empty()) {
    add("Authorization", "Bearer " + credential.token);
  } else if (!credential.username.empty()) {
    add("Authorization", "Basic " + base64_encode(credential.username + ":" + credential.password));
  }
  const Impersonation& as = config_.impersonate;
  if (!as.user.empty()) add("Impersonate-User", as.user);
  if (!as.uid.empty()) add("Impersonate-Uid", as.uid);
  for (const auto& group : as.groups) add("Impersonate-Group", group);
  for (const auto& [key, values] : as.extra) {
    for (const auto& value : values) add("Impersonate-Extra-" + net::percent_encode(key), value);
  }
  return http_request;
}

void Transport::count(const ApiRequest& request, const std::string& code, BootTime since) const {
  if (!options_.metrics) return;
  options_.metrics
      ->counter("paddle_api_requests_total", "Requests sent to the API server, retries included.",
                {{"verb", request.verb}, {"resource", request.resource}, {"code", code}})
      .Increment();
  if (request.verb == "watch") return;  // its length is no measure of the server's speed
  options_.metrics
      ->seconds("paddle_api_request_seconds", "Time until a request was answered in full.",
                {{"verb", request.verb}, {"resource", request.resource}})
      .Observe(std::chrono::duration<double>(clock_.boot() - since).count());
}

}  // namespace paddle::kube
