// SPDX-License-Identifier: Apache-2.0
#include "net/http_loop.h"

#include <algorithm>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/sync.h"
#include "net/curl_connection.h"
#include "net/curl_error.h"
#include "net/values/url.h"

namespace paddle::net {
namespace {

constexpr int kLongestPollMs = 60'000;

struct LoopCall {
  HttpRequest request{};
  HttpOptions options{};
  std::chrono::milliseconds timeout{};
  HttpLoop::Done done{};
  Transfer transfer{};
  CurlConnection connection{CurlConnection::Multi::kShared};

  Error failure(Error error) const {
    return std::move(error).in(request.method + " " + without_secrets(request.url));
  }
};

struct FreeLoopMulti {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};

CURLM* make_multi(std::size_t max_idle) {
  static const CURLcode kReady = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)kReady;
  CURLM* multi = curl_multi_init();
  if (multi) curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, static_cast<long>(max_idle));
  return multi;
}

}  // namespace

class HttpLoop::Impl {
 public:
  explicit Impl(std::size_t max_idle)
      : multi_(make_multi(max_idle)), thread_([this](std::stop_token stop) { run(stop); }) {}
  ~Impl() {
    thread_.request_stop();
    curl_multi_wakeup(multi_.get());
    thread_.join();
  }

  void send(std::unique_ptr<LoopCall> call) EXCLUDES(mutex_) {
    {
      Lock lock(mutex_);
      arrived_.push_back(std::move(call));
    }
    curl_multi_wakeup(multi_.get());
  }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      begin_arrived();
      int running = 0;
      curl_multi_perform(multi_.get(), &running);
      end_finished();
      if (!has_arrived()) curl_multi_poll(multi_.get(), nullptr, 0, kLongestPollMs, nullptr);
    }
    for (auto& [easy, call] : running_) curl_multi_remove_handle(multi_.get(), easy);
    running_.clear();
  }

  bool has_arrived() EXCLUDES(mutex_) {
    Lock lock(mutex_);
    return !arrived_.empty();
  }

  void begin_arrived() EXCLUDES(mutex_) {
    std::vector<std::unique_ptr<LoopCall>> arrived;
    {
      Lock lock(mutex_);
      arrived.swap(arrived_);
    }
    for (auto& call : arrived) begin(std::move(call));
  }

  void begin(std::unique_ptr<LoopCall> call) {
    LoopCall& it = *call;
    if (!it.connection.ok()) return it.done(Error{Code::kInternal, "libcurl cannot start"});
    it.transfer.request = &it.request;
    it.transfer.max_body = it.options.max_body;
    if (auto prepared = it.connection.prepare(it.transfer, it.options, ""); !prepared) {
      return it.done(it.failure(std::move(prepared).error()));
    }
    CURL* easy = it.connection.easy();
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(it.timeout.count()));
    if (curl_multi_add_handle(multi_.get(), easy) != CURLM_OK) {
      return it.done(Error{Code::kInternal, "libcurl cannot start"});
    }
    running_.emplace(easy, std::move(call));
  }

  void end_finished() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      const auto found = running_.find(message->easy_handle);
      curl_multi_remove_handle(multi_.get(), message->easy_handle);
      if (found == running_.end()) continue;
      const auto call = std::move(found->second);
      running_.erase(found);
      call->done(reply_of(*call, code));
    }
  }

  static Result<HttpReply> reply_of(LoopCall& call, CURLcode code) {
    Transfer& transfer = call.transfer;
    if (transfer.failed) return call.failure(*std::move(transfer.failed));
    if (code == CURLE_OK || transfer.enough) return std::move(transfer.reply);
    return call.failure(error_of(code, call.connection.detail()));
  }

  const std::unique_ptr<CURLM, FreeLoopMulti> multi_;
  std::map<CURL*, std::unique_ptr<LoopCall>> running_{};  // only the thread uses it
  Mutex mutex_;
  std::vector<std::unique_ptr<LoopCall>> arrived_ GUARDED_BY(mutex_);
  std::jthread thread_;  // last: it uses everything above
};

HttpLoop::HttpLoop(std::size_t max_idle) : impl_(std::make_unique<Impl>(max_idle)) {}
HttpLoop::~HttpLoop() = default;

void HttpLoop::send(HttpRequest request, HttpOptions options, std::chrono::milliseconds timeout,
                    Done done) {
  auto call = std::make_unique<LoopCall>();
  call->request = std::move(request);
  call->options = std::move(options);
  call->timeout = timeout;
  call->done = std::move(done);
  impl_->send(std::move(call));
}

}  // namespace paddle::net
