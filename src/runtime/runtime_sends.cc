// SPDX-License-Identifier: Apache-2.0
#include "runtime/runtime_sends.h"

#include <memory>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "net/http_loop.h"
#include "runtime/requests.h"

namespace paddle::runtime {
namespace {

using std::chrono::milliseconds;

// One PUT or DELETE, and a second one with the previous token when the current one is refused. Kept
// alive by the request in progress.
class HttpSend : public std::enable_shared_from_this<HttpSend> {
 public:
  HttpSend(net::HttpLoop& loop, JobCall call, milliseconds limit, SendDone done)
      : loop_(loop),
        call_(std::move(call)),
        deadline_(system_clock().boot() + limit),
        done_(std::move(done)) {}

  void start() {
    if (!is_job_id(call_.id)) return done_(Error{Code::kInvalid, "not a valid id of a job"});
    send(call_.access.token);
  }

 private:
  void send(const std::string& token) {
    auto request = request_to(call_.address, call_.access, "/v1/jobs/" + call_.id, token);
    if (!request) return done_(std::move(request).error());
    request->method = call_.request ? "PUT" : "DELETE";
    if (call_.request) {
      request->body = api::dump_json(encode(*call_.request));
      request->headers.emplace_back("Content-Type", "application/json");
    }
    const auto left = std::chrono::ceil<milliseconds>(deadline_ - system_clock().boot());
    if (left.count() <= 0) return done_(Error{Code::kDeadline, "no answer in time"});
    loop_.send(*std::move(request), http_options(call_.access), left,
               [self = shared_from_this(), token](Result<net::HttpReply> reply) {
                 const std::string& before = self->call_.access.token_before;
                 if (reply && reply->status == 401 && !before.empty() && token != before) {
                   return self->send(before);
                 }
                 auto checked = checked_reply(self->call_.address, std::move(reply));
                 self->done_(checked ? Result<>(Done{}) : Result<>(std::move(checked).error()));
               });
  }

  net::HttpLoop& loop_;  // outlives it: it holds what it is kept alive by
  const JobCall call_;
  const BootTime deadline_;
  const SendDone done_;
};

}  // namespace

RuntimeSends http_sends_at(RuntimeConnections connections, milliseconds limit) {
  return [connections = std::move(connections), limit](JobCall call, SendDone done) {
    std::make_shared<HttpSend>(*connections, std::move(call), limit, std::move(done))->start();
  };
}

RuntimeSends http_runtime_sends(RuntimeConnections connections, milliseconds limit) {
  return [sends = http_sends_at(std::move(connections), limit)](JobCall call, SendDone done) {
    call.address = address_of(call.address);
    sends(std::move(call), std::move(done));
  };
}

RuntimeSends sends_by(RuntimeClientFactory clients) {
  return [clients = std::move(clients)](const JobCall& call, const SendDone& done) {
    const auto runtime = clients(call.address, call.access);
    if (!call.request) return done(runtime->cancel(call.id, {}));
    auto taken = runtime->put_job(call.id, *call.request, {});
    done(taken ? Result<>(Done{}) : Result<>(std::move(taken).error()));
  };
}

}  // namespace paddle::runtime
