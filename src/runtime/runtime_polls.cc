// SPDX-License-Identifier: Apache-2.0
#include "runtime/runtime_polls.h"

#include <algorithm>
#include <memory>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "net/http_loop.h"
#include "runtime/requests.h"

namespace paddle::runtime {
namespace {

using std::chrono::milliseconds;

// Each has a TLS session; more runtimes than these are connected to for each poll.
constexpr std::size_t kMostKeptConnections = 512;

// One poll: a GET, or with an older runtime one for each job and then one for the status, so that a
// job that has ended is in effect in the status. Kept alive by the request in progress.
class HttpPoll : public std::enable_shared_from_this<HttpPoll> {
 public:
  HttpPoll(net::HttpLoop& loop, PollCall call, milliseconds limit, PollDone done)
      : loop_(loop),
        call_(std::move(call)),
        deadline_(system_clock().boot() + limit),
        done_(std::move(done)) {}

  void start() {
    get(poll_path(call_.jobs), call_.access.token, [this](Result<api::Json> json) {
      if (!json) return done_(std::move(json).error());
      auto report = decode_poll_report(*json);
      if (!report || report->jobs) return done_(std::move(report));
      get_next_job();
    });
  }

 private:
  using Next = std::function<void(Result<api::Json>)>;

  // With the previous token when the current one is refused.
  void get(const std::string& path, const std::string& token, Next next) {
    auto request = request_to(call_.address, call_.access, path, token);
    if (!request) return next(std::move(request).error());
    const auto left = std::chrono::ceil<milliseconds>(deadline_ - system_clock().boot());
    if (left.count() <= 0) return next(Error{Code::kDeadline, "no answer in time"});
    loop_.send(*std::move(request), http_options(call_.access), left,
               [self = shared_from_this(), path, token,
                next = std::move(next)](Result<net::HttpReply> reply) {
                 const std::string& before = self->call_.access.token_before;
                 if (reply && reply->status == 401 && !before.empty() && token != before) {
                   return self->get(path, before, next);
                 }
                 next(json_of(self->call_.address, std::move(reply)));
               });
  }

  void get_next_job() {
    const bool all = std::ranges::find(call_.jobs, kAllJobs) != call_.jobs.end();
    if (all || asked_ == call_.jobs.size()) return all && !listed_ ? get_all_jobs() : get_status();
    get("/v1/jobs/" + call_.jobs[asked_++], call_.access.token, [this](Result<api::Json> json) {
      if (!json && !json.is(Code::kNotFound)) return done_(std::move(json).error());
      if (json) {
        auto job = decode_job_report(*json);
        if (!job) return done_(std::move(job).error());
        jobs_.push_back(*std::move(job));
      }
      get_next_job();
    });
  }

  void get_all_jobs() {
    listed_ = true;
    get("/v1/jobs", call_.access.token, [this](Result<api::Json> json) {
      if (!json) return done_(std::move(json).error());
      auto all = decode_job_list(*json);
      if (!all) return done_(std::move(all).error());
      jobs_ = *std::move(all);
      get_status();
    });
  }

  void get_status() {
    get("/v1/status", call_.access.token, [this](Result<api::Json> json) {
      if (!json) return done_(std::move(json).error());
      auto status = decode_status_report(*json);
      if (!status) return done_(std::move(status).error());
      done_(PollReport{.status = *std::move(status), .jobs = std::move(jobs_)});
    });
  }

  net::HttpLoop& loop_;  // outlives it: it holds what it is kept alive by
  const PollCall call_;
  const BootTime deadline_;
  const PollDone done_;
  std::size_t asked_ = 0;
  bool listed_ = false;
  std::vector<JobReport> jobs_{};
};

}  // namespace

RuntimeConnections make_runtime_connections() {
  return std::make_shared<net::HttpLoop>(kMostKeptConnections);
}

RuntimePolls http_polls_at(RuntimeConnections connections, milliseconds limit) {
  return [connections = std::move(connections), limit](PollCall call, PollDone done) {
    std::make_shared<HttpPoll>(*connections, std::move(call), limit, std::move(done))->start();
  };
}

RuntimePolls http_runtime_polls(RuntimeConnections connections, milliseconds limit) {
  return [polls = http_polls_at(std::move(connections), limit)](PollCall call, PollDone done) {
    call.address = address_of(call.address);
    polls(std::move(call), std::move(done));
  };
}

RuntimePolls polls_by(RuntimeClientFactory clients) {
  return [clients = std::move(clients)](const PollCall& call, const PollDone& done) {
    done(clients(call.address, call.access)->poll(call.jobs, {}));
  };
}

}  // namespace paddle::runtime
