// SPDX-License-Identifier: Apache-2.0
#include "runtime/server/server.h"

#include <fstream>
#include <functional>
#include <future>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/log.h"
#include "base/scratch.h"
#include "net/http_client.h"
#include "runtime/client.h"
#include "runtime/runtime_polls.h"
#include "runtime/runtime_secret.h"
#include "runtime/runtime_sends.h"
#include "runtime/server/fake_engine.h"

namespace paddle::runtime {
namespace {

constexpr const char* kToken = "canary-5f2d";

class RuntimeServerTest : public testing::Test {
 protected:
  RuntimeServerTest() {
    log::set_sink([this](std::string_view line) {
      Lock lock(mutex_);
      logged_ += line;
    });
    jobs_ = *JobRunner::start(*Journal::open(scratch_.path() + "/jobs"), engine_);
    auto server = Server::start(
        {"127.0.0.1", 0}, [] { return std::string(kToken); }, *jobs_, engine_, metrics_);
    EXPECT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
  }
  ~RuntimeServerTest() override {
    server_.reset();
    jobs_.reset();
    log::set_sink({});
    Lock lock(mutex_);
    EXPECT_EQ(logged_.find(kToken), std::string::npos);
  }
  std::string address() const { return net::to_string(server_->address()); }
  Client client(const std::string& token = kToken) { return Client(address(), token); }
  net::HttpReply ask(const std::string& method, const std::string& path,
                     const std::string& body = {},
                     const std::string& authorization = std::string("Bearer ") + kToken) {
    net::HttpRequest request{.method = method, .url = "http://" + address() + path, .body = body};
    request.headers.emplace_back("Content-Type", "application/json");
    if (!authorization.empty()) request.headers.emplace_back("Authorization", authorization);
    const auto reply = http_.send(request);
    EXPECT_TRUE(reply) << reply.error().message;
    if (!reply) return {};
    EXPECT_EQ(reply->body.find(kToken), std::string::npos);
    return *reply;
  }
  void wait_until_ended(const std::string& id) {
    for (int i = 0; i < 20'000 && !ended(jobs_->find(id)->state); ++i) {
      system_clock().sleep(std::chrono::milliseconds{1}, {});
    }
    ASSERT_TRUE(ended(jobs_->find(id)->state));
  }

  Mutex mutex_;
  std::string logged_ GUARDED_BY(mutex_);
  const Scratch scratch_;
  FakeEngine engine_;
  Metrics metrics_;
  std::unique_ptr<JobRunner> jobs_;
  std::unique_ptr<Server> server_;
  net::HttpClient http_{{}};
};

TEST_F(RuntimeServerTest, OnlyHealthChecksNeedNoToken) {
  for (const char* path : {"/healthz", "/readyz"}) {
    EXPECT_EQ(ask("GET", path, {}, "").status, 200);
  }
  for (const char* path : {"/", "/v1", "/v1/jobs", "/v1/jobs/a", "/v1/status", "/metrics", "/x"}) {
    for (const std::string& wrong :
         {std::string(), std::string("Bearer "), std::string("Bearer wrong"), std::string(kToken),
          "Basic " + std::string(kToken), "bearer" + std::string(kToken),
          "Bearer " + std::string(kToken) + "x", "Bearer " + std::string(kToken).substr(1)}) {
      EXPECT_EQ(ask("GET", path, {}, wrong).status, 401) << path << " " << wrong;
    }
  }
  EXPECT_EQ(ask("PUT", "/v1/jobs/a", R"({"kind":"sync"})", "Bearer wrong").status, 401);
  EXPECT_EQ(ask("DELETE", "/v1/jobs/a", {}, "").status, 401);
  EXPECT_TRUE(jobs_->all().empty());
}

TEST_F(RuntimeServerTest, WithoutATokenEveryCallIsUnauthorized) {
  const auto closed = Server::start(
      {"127.0.0.1", 0}, [] { return std::string(); }, *jobs_, engine_, metrics_);
  ASSERT_TRUE(closed);
  EXPECT_TRUE(Client(net::to_string((*closed)->address()), "").status().is(Code::kUnauthorized));
}

TEST_F(RuntimeServerTest, AJobIsPutRunAndReported) {
  auto asks = client();
  const JobRequest request{.kind = JobKind::kWarmup, .which = {.partition = 0, .partitions = 2}};
  const auto put = asks.put_job("w-1", request);
  ASSERT_TRUE(put) << put.error().message;
  EXPECT_EQ(put->id, "w-1");
  wait_until_ended("w-1");
  EXPECT_EQ(asks.job("w-1")->state, JobState::kSucceeded);
  EXPECT_EQ(asks.job("w-1")->progress.files_done, 1);
  EXPECT_EQ(asks.put_job("w-1", request)->state, JobState::kSucceeded);
  EXPECT_TRUE(asks.put_job("w-1", {.kind = JobKind::kSync}).is(Code::kConflict));
  EXPECT_EQ(asks.jobs()->size(), 1u);
}

Result<PollReport> poll_once(const RuntimePolls& polls, const PollCall& call) {
  std::promise<Result<PollReport>> answer;
  polls(call, [&](Result<PollReport> report) { answer.set_value(std::move(report)); });
  return answer.get_future().get();
}

TEST_F(RuntimeServerTest, OnePollReturnsTheStatusAndTheJobs) {
  ASSERT_TRUE(client().put_job("w-1", {.kind = JobKind::kWarmup}));
  wait_until_ended("w-1");
  const auto polls = http_polls_at(make_runtime_connections(), std::chrono::seconds{10});
  const auto polled = [&](const std::vector<std::string>& ids, const std::string& token = kToken) {
    return poll_once(polls, {.address = address(), .access = {.token = token}, .jobs = ids});
  };
  for (int i = 0; i < 3; ++i) {
    const auto report = polled({"w-1", "unknown"});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->status, *client().status());
    ASSERT_EQ(report->jobs->size(), 1u);
    EXPECT_EQ(report->jobs->front(), *client().job("w-1"));
  }
  EXPECT_EQ(polled({kAllJobs})->jobs->size(), 1u);
  EXPECT_TRUE(polled({})->jobs->empty());
  EXPECT_TRUE(polled({"w-1"}, "wrong").is(Code::kUnauthorized));
  const PollCall renewed{.address = address(),
                         .access = {.token = "not known yet", .token_before = kToken},
                         .jobs = {"w-1"}};
  EXPECT_TRUE(poll_once(polls, renewed));
}

// It knows the status without jobs, and each job.
TEST_F(RuntimeServerTest, AnOlderRuntimeIsPolledForEachJob) {
  ASSERT_TRUE(client().put_job("w-1", {.kind = JobKind::kWarmup}));
  wait_until_ended("w-1");
  std::vector<std::string> asked;
  const auto older = net::HttpServer::start(
      {"127.0.0.1", 0}, [&](const net::ServerRequest& request) -> net::ServerReply {
        asked.push_back(request.path);
        const auto reply = ask("GET", request.path);
        return {.status = reply.status, .body = reply.body};
      });
  ASSERT_TRUE(older);
  const PollCall call{.address = net::to_string((*older)->address()),
                      .access = {.token = kToken},
                      .jobs = {"unknown", "w-1"}};
  const auto report =
      poll_once(http_polls_at(make_runtime_connections(), std::chrono::seconds{10}), call);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->jobs->size(), 1u);
  EXPECT_EQ(report->jobs->front().id, "w-1");
  EXPECT_EQ(asked.back(), "/v1/status") << "after the jobs, so that their effect is in it";
  const PollCall all{.address = call.address, .access = call.access, .jobs = {kAllJobs}};
  EXPECT_EQ(poll_once(http_polls_at(make_runtime_connections(), std::chrono::seconds{10}), all)
                ->jobs->size(),
            1u);
}

TEST_F(RuntimeServerTest, SendsPutAndCancelJobsWithoutWaiting) {
  engine_.block();
  const auto sends = http_sends_at(make_runtime_connections(), std::chrono::seconds{10});
  const auto sent = [&](const std::string& id, const std::optional<JobRequest>& request,
                        const RuntimeCredentials& access) {
    std::promise<Result<>> answer;
    sends({.address = address(), .access = access, .id = id, .request = request},
          [&](Result<> result) { answer.set_value(std::move(result)); });
    return answer.get_future().get();
  };
  const RuntimeCredentials access{.token = kToken};
  const JobRequest sync{.kind = JobKind::kSync};
  EXPECT_TRUE(sent("s", sync, access));
  EXPECT_TRUE(sent("s", sync, access)) << "again";
  EXPECT_TRUE(sent("s", JobRequest{.kind = JobKind::kWarmup}, access).is(Code::kConflict));
  EXPECT_TRUE(sent("../s", sync, access).is(Code::kInvalid));
  EXPECT_TRUE(sent("s", std::nullopt, {.token = "wrong"}).is(Code::kUnauthorized));
  EXPECT_TRUE(sent("s", std::nullopt, {.token = "not known yet", .token_before = kToken}));
  wait_until_ended("s");
  EXPECT_EQ(client().job("s")->state, JobState::kCancelled);
}

TEST_F(RuntimeServerTest, DeleteCancelsAJobAndIgnoresUnknownIds) {
  engine_.block();
  auto asks = client();
  ASSERT_TRUE(asks.put_job("s", {.kind = JobKind::kSync}));
  ASSERT_TRUE(asks.cancel("s"));
  wait_until_ended("s");
  EXPECT_EQ(asks.job("s")->state, JobState::kCancelled);
  EXPECT_TRUE(asks.cancel("never-was"));
}

TEST_F(RuntimeServerTest, StatusAndMetricsAreThoseOfTheEngine) {
  const auto status = client().status();
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(status->engine, "fake");
  EXPECT_EQ(status->index, (IndexReport{3, "d", 2, 20}));
  EXPECT_EQ(status->cache.bytes, 10);
  const std::string text = ask("GET", "/metrics").body;
  EXPECT_NE(text.find("paddle_index_generation 3"), text.npos) << text;
  EXPECT_NE(text.find("paddle_cache_read_bytes_total{from=\"cache\"} 5"), text.npos);
  EXPECT_NE(ask("GET", "/metrics").body.find("{from=\"cache\"} 5"), text.npos) << "not doubled";
}

TEST(StatusMetrics, CountersContinueAfterARestartOfTheirSource) {
  Metrics metrics;
  StatusMetrics shown(metrics);
  engine::Status status;
  for (const std::int64_t seen : {100, 100, 40, 70}) {
    status.from_cache = seen;
    (void)shown.text(status);
  }
  const std::string text = shown.text(status);
  EXPECT_NE(text.find("paddle_cache_read_bytes_total{from=\"cache\"} 170"), text.npos) << text;
  EXPECT_EQ(text.find("paddle_cache_files"), text.npos) << "they are not known";
}

TEST_F(RuntimeServerTest, ServesLists) {
  EXPECT_EQ(*client().list("listed", 7), "part 7\n");
  EXPECT_TRUE(client().list("other", 0).is(Code::kNotFound));
  EXPECT_TRUE(client("wrong").list("listed", 0).is(Code::kUnauthorized));
  EXPECT_TRUE(client().list("../x", 0).is(Code::kInvalid));
  for (const char* path : {"/v1/lists/", "/v1/lists/listed", "/v1/lists/listed/", "/v1/lists//0",
                           "/v1/lists/listed/-1", "/v1/lists/listed/1x", "/v1/lists/listed/1/2",
                           "/v1/lists/listed/99999999999"}) {
    EXPECT_EQ(ask("GET", path).status, 400) << path;
  }
  EXPECT_EQ(ask("PUT", "/v1/lists/listed/0", "{}").status, 405);
}

TEST_F(RuntimeServerTest, TellsWhetherAListIsStillToCome) {
  engine_.block();
  ASSERT_TRUE(client().put_job("w", {.kind = JobKind::kWarmup}));
  EXPECT_TRUE(client().list("w", 1).is(Code::kUnavailable)) << "not yet";
  ASSERT_TRUE(client().cancel("w"));
  wait_until_ended("w");
  EXPECT_TRUE(client().list("w", 1).is(Code::kExpired)) << "no more";
}

TEST_F(RuntimeServerTest, AcceptsThePreviousTokenToo) {
  const auto server = Server::start(
      {"127.0.0.1", 0},
      [] {
        return std::vector<std::string>{"new", "old", ""};
      },
      *jobs_, engine_, metrics_);
  ASSERT_TRUE(server);
  const std::string at = net::to_string((*server)->address());
  EXPECT_TRUE(Client(at, "new").status());
  EXPECT_TRUE(Client(at, "old").status());
  EXPECT_TRUE(Client(at, "older").status().is(Code::kUnauthorized));
  EXPECT_TRUE(Client(at, "").status().is(Code::kUnauthorized));
  // And the client tries the one before when the server is not as far as itself.
  EXPECT_TRUE(Client(at, RuntimeCredentials{.token = "newest", .token_before = "new"}).status());
  EXPECT_TRUE(
      Client(at, RuntimeCredentials{.token = "newest", .token_before = "new"}).list("listed", 1));
  EXPECT_TRUE(Client(at, RuntimeCredentials{.token = "newest", .token_before = "newer"})
                  .status()
                  .is(Code::kUnauthorized));
}

TEST_F(RuntimeServerTest, IsVerifiedByTheSecretOfItsSet) {
  const auto write = [&](const SecretData& data) {
    for (const auto& [key, value] : data) {
      std::ofstream(scratch_.path() + "/" + key) << value;
    }
  };
  const auto now = system_clock().wall();
  const auto first = *make_runtime_secret("train", "imagenet", {}, now);
  write(first);
  const auto server =
      Server::start({"127.0.0.1", 0}, [] { return std::string(kToken); }, *jobs_, engine_, metrics_,
                    {scratch_.path() + "/" + kCertificate, scratch_.path() + "/" + kKey});
  ASSERT_TRUE(server) << server.error().message;
  const auto asks = [&](const SecretData& data, const std::string& ns) {
    return Client(net::to_string((*server)->address()),
                  RuntimeCredentials{.token = kToken,
                                     .authority = data.at(kAuthority),
                                     .name = server_name(ns, "imagenet")})
        .status();
  };
  EXPECT_TRUE(asks(first, "train"));
  EXPECT_TRUE(asks(first, "other").is(Code::kUntrusted));
  // Renewed: those who know only the old authority, or already the new one, can both ask.
  const auto second = *make_runtime_secret("train", "imagenet", first, now);
  EXPECT_TRUE(asks(second, "train"));
  write(second);
  EXPECT_TRUE(asks(second, "train"));
  const auto stranger = *make_runtime_secret("train", "imagenet", {}, now);
  EXPECT_TRUE(asks(stranger, "train").is(Code::kUntrusted));
  EXPECT_FALSE(Client(net::to_string((*server)->address()), kToken).status());  // in the clear
}

TEST_F(RuntimeServerTest, UnknownPathsAndMethodsAreRefused) {
  EXPECT_EQ(ask("GET", "/v1/jobs/unknown").status, 404);
  EXPECT_TRUE(client().job("unknown").is(Code::kNotFound));
  for (const char* path : {"/", "/v1", "/v1/", "/v2/jobs", "/v1/statusx", "/../etc/passwd"}) {
    EXPECT_EQ(ask("GET", path).status, 404) << path;
  }
  EXPECT_EQ(ask("PUT", "/v1/status", "{}").status, 405);
  EXPECT_EQ(ask("POST", "/v1/jobs/a", "{}").status, 405);
}

TEST_F(RuntimeServerTest, HostileRequestsAreRefusedAndLeaveNoJob) {
  for (const char* path : {"/v1/jobs/", "/v1/jobs/..", "/v1/jobs/.a", "/v1/jobs/a%2Fb",
                           "/v1/jobs/a%00b", "/v1/jobs/a/b", "/v1/jobs/%0a"}) {
    const int status = ask("PUT", path, R"({"kind":"sync"})").status;
    EXPECT_TRUE(status == 400 || status == 404) << path << " " << status;
  }
  for (const std::string& body :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"),
        std::string(R"({"kind":"rm -rf /"})"), std::string(R"({"kind":"clear","paths":["../x"]})"),
        std::string(R"({"kind":"clear","partitions":0})"), std::string(100'000, '[')}) {
    EXPECT_EQ(ask("PUT", "/v1/jobs/a", body).status, 400) << body.substr(0, 40);
  }
  EXPECT_EQ(ask("PUT", "/v1/jobs/a", std::string((1 << 20) + 1, ' ')).status, 413);
  EXPECT_TRUE(jobs_->all().empty());
  EXPECT_EQ(ask("GET", "/healthz").status, 200);
}

TEST_F(RuntimeServerTest, TheClientReportsWhyACallFailed) {
  EXPECT_TRUE(client("wrong").status().is(Code::kUnauthorized));
  const std::string gone = address();
  server_.reset();
  EXPECT_TRUE(Client(gone, kToken).status().is(Code::kUnavailable));
  EXPECT_EQ(Client(gone, kToken).status().error().message.find(kToken), std::string::npos);
  std::stop_source stopped;
  stopped.request_stop();
  EXPECT_TRUE(Client(gone, kToken).status(stopped.get_token()).is(Code::kCancelled));
  EXPECT_TRUE(Client(gone, kToken).put_job("../x", {}).is(Code::kInvalid));
}

TEST(SameSecret, IsEqualityAndFalseForAnEmptySecret) {
  EXPECT_TRUE(same_secret("abc", "abc"));
  for (const char* given : {"", "ab", "abcd", "abd", "abcabc"}) {
    EXPECT_FALSE(same_secret(given, "abc")) << given;
  }
  EXPECT_FALSE(same_secret("", ""));
  EXPECT_FALSE(same_secret("a", ""));
}

}  // namespace
}  // namespace paddle::runtime
