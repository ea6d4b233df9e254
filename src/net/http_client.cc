// SPDX-License-Identifier: Apache-2.0
#include "net/http_client.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "base/sync.h"
#include "net/curl_connection.h"
#include "net/curl_error.h"
#include "net/values/retry_after.h"
#include "net/values/url.h"

namespace paddle::net {
namespace {

using std::chrono::milliseconds;

std::string environment(const char* upper, const char* lower_case) {
  if (const char* value = std::getenv(upper); value && *value) return value;
  if (const char* value = std::getenv(lower_case); value && *value) return value;
  return {};
}

// Upper-case names win over lower-case ones.
ProxySettings proxies_of_environment() {
  return {.http = environment("HTTP_PROXY", "http_proxy"),
          .https = environment("HTTPS_PROXY", "https_proxy"),
          .none = environment("NO_PROXY", "no_proxy")};
}

// When a call is given up: one limit for the beginning of the response, one for the whole.
class Deadline {
 public:
  Deadline(const Clock& clock, const HttpCall& call)
      : clock_(clock), start_(clock.boot()), call_(call) {}

  // Nullopt when there is no limit; zero when it has passed.
  std::optional<milliseconds> left(bool answering) const {
    milliseconds limit = call_.timeout;
    if (!answering && call_.header_timeout.count() > 0) {
      limit = limit.count() > 0 ? std::min(limit, call_.header_timeout) : call_.header_timeout;
    }
    if (limit.count() <= 0) return std::nullopt;
    const auto spent = clock_.boot() - start_;
    return std::max(std::chrono::ceil<milliseconds>(limit - spent), milliseconds{0});
  }

 private:
  const Clock& clock_;
  const BootTime start_;
  const HttpCall& call_;
};

// Whether the body arrives fast enough: at least `stall_bytes` in each `stall_timeout`.
class Stall {
 public:
  Stall(const Clock& clock, const HttpCall& call) : clock_(clock), call_(call) {}

  // Nullopt when there is no limit, zero when the body has stalled.
  std::optional<milliseconds> left(const Transfer& transfer) {
    if (call_.stall_timeout.count() <= 0 || !transfer.answering) return std::nullopt;
    const BootTime now = clock_.boot();
    if (!since_ || transfer.body_bytes - counted_ >= call_.stall_bytes) {
      since_ = now;
      counted_ = transfer.body_bytes;
    }
    return std::max(std::chrono::ceil<milliseconds>(call_.stall_timeout - (now - *since_)),
                    milliseconds{0});
  }

 private:
  const Clock& clock_;
  const HttpCall& call_;
  std::optional<BootTime> since_{};
  size_t counted_ = 0;  // bytes that had arrived then
};

std::optional<CURLcode> finished(CURLM* multi) {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
    if (message->msg == CURLMSG_DONE) return message->data.result;
  }
  return std::nullopt;
}

// Runs the prepared transfer to its end on this thread.
Result<> run(CurlConnection& connection, Transfer& transfer, const Deadline& deadline, Stall stall,
             const std::stop_token& stop) {
  for (;;) {
    int running = 0;
    if (curl_multi_perform(connection.multi(), &running) != CURLM_OK) {
      return Error{Code::kInternal, "libcurl cannot continue"};
    }
    const auto code = finished(connection.multi());
    if (transfer.failed) return *std::move(transfer.failed);
    if (stop.stop_requested()) return Error{Code::kCancelled, "stopped"};
    if (code && (*code == CURLE_OK || transfer.enough)) return Done{};
    if (code) return error_of(*code, connection.detail());

    constexpr milliseconds kLongest{600'000};
    const auto moving = stall.left(transfer).value_or(kLongest);
    if (moving.count() == 0) return Error{Code::kDeadline, "the response has stalled"};
    const auto left = std::min(deadline.left(transfer.answering).value_or(kLongest), moving);
    if (left.count() == 0) {
      return Error{Code::kDeadline,
                   transfer.answering ? "no complete response in time" : "no response in time"};
    }
    curl_multi_poll(connection.multi(), nullptr, 0,
                    static_cast<int>(std::min(left, kLongest).count()), nullptr);
  }
}

}  // namespace

// Idle connections, the most recently used on top: libcurl closes those below by its own age limit
// when they are used again.
class HttpClient::Pool {
 public:
  explicit Pool(size_t max_idle) : max_idle_(max_idle) {
    static const CURLcode kReady = curl_global_init(CURL_GLOBAL_DEFAULT);
    (void)kReady;
  }

  std::unique_ptr<CurlConnection> take() EXCLUDES(mutex_) {
    {
      const Lock lock(mutex_);
      if (!idle_.empty()) {
        auto connection = std::move(idle_.back());
        idle_.pop_back();
        return connection;
      }
    }
    return std::make_unique<CurlConnection>();
  }

  void give_back(std::unique_ptr<CurlConnection> connection) EXCLUDES(mutex_) {
    const Lock lock(mutex_);
    if (idle_.size() < max_idle_) idle_.push_back(std::move(connection));
  }

 private:
  const size_t max_idle_;
  Mutex mutex_;
  std::vector<std::unique_ptr<CurlConnection>> idle_ GUARDED_BY(mutex_);
};

HttpClient::HttpClient(HttpOptions options, const Clock& clock)
    : options_(std::move(options)),
      environment_(proxies_of_environment()),
      clock_(clock),
      pool_(std::make_unique<Pool>(options_.max_idle)) {}

HttpClient::~HttpClient() = default;

Result<HttpReply> HttpClient::send(const HttpRequest& request, const HttpCall& call) {
  return exchange(request, nullptr, call);
}

Result<HttpReply> HttpClient::stream(const HttpRequest& request, const BodySink& sink,
                                     const HttpCall& call) {
  return exchange(request, &sink, call);
}

Result<HttpReply> HttpClient::exchange(const HttpRequest& request, const BodySink* sink,
                                       const HttpCall& call) {
  const Deadline deadline(clock_, call);
  Transfer transfer{.request = &request,
                    .sink = sink,
                    .max_body = options_.max_body,
                    .stop = call.stop,
                    .may_send = &call.may_send,
                    .on_header = &call.on_header};
  auto connection = pool_->take();
  if (!connection->ok()) return Error{Code::kInternal, "libcurl cannot start"};

  const auto attempt = [&]() -> Result<> {
    TRY(const Origin origin, origin_of(request.url));
    CHECK_DONE(connection->prepare(
        transfer, options_, options_.proxy ? *options_.proxy : proxy_for(origin, environment_)));
    if (curl_multi_add_handle(connection->multi(), connection->easy()) != CURLM_OK) {
      return Error{Code::kInternal, "libcurl cannot start"};
    }
    // Waking is safe from any thread; a wake that comes late only makes the next poll return once.
    const std::stop_callback wake(call.stop, [&] { curl_multi_wakeup(connection->multi()); });
    auto done = run(*connection, transfer, deadline, Stall(clock_, call), call.stop);
    curl_multi_remove_handle(connection->multi(), connection->easy());
    return done;
  };
  auto done = attempt();
  pool_->give_back(std::move(connection));
  if (!done && transfer.sink_failed) return std::move(done).error();
  if (!done) {
    return std::move(done).error().in(request.method + " " + without_secrets(request.url));
  }
  if (!transfer.retry_after.empty()) {
    transfer.reply.retry_after = parse_retry_after(transfer.retry_after, clock_.wall());
  }
  return std::move(transfer.reply);
}

}  // namespace paddle::net
