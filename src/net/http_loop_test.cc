// SPDX-License-Identifier: Apache-2.0
#include "net/http_loop.h"

#include <atomic>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "net/test_server/scripted_server.h"

namespace paddle::net {
namespace {

using namespace std::chrono_literals;

using Answer = std::future<Result<HttpReply>>;

Answer get(HttpLoop& loop, const std::string& url, std::chrono::milliseconds timeout = 10s,
           const HttpOptions& options = {}) {
  auto promise = std::make_shared<std::promise<Result<HttpReply>>>();
  Answer answer = promise->get_future();
  loop.send({.url = url}, options, timeout,
            [promise](Result<HttpReply> reply) { promise->set_value(std::move(reply)); });
  return answer;
}

TEST(HttpLoop, KeepsTheConnectionForTheNextRequest) {
  ScriptedServer server([](const ReceivedRequest& seen, ScriptedConnection& connection) {
    connection.reply(200, seen.target);
  });
  HttpLoop loop(4);
  for (const std::string path : {"/a", "/b", "/c"}) {
    const auto reply = get(loop, server.url() + path).get();
    ASSERT_TRUE(reply) << reply.error().message;
    EXPECT_EQ(reply->body, path);
  }
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpLoop, ServersThatDoNotAnswerDelayNoOther) {
  ScriptedServer silent(
      [](const ReceivedRequest&, ScriptedConnection& connection) { connection.wait_for_peer(); });
  ScriptedServer server(
      [](const ReceivedRequest&, ScriptedConnection& connection) { connection.reply(200, "ok"); });
  HttpLoop loop(4);
  std::vector<Answer> unanswered;
  for (int i = 0; i < 50; ++i) unanswered.push_back(get(loop, silent.url(), 30s));
  EXPECT_TRUE(get(loop, server.url()).get());
  EXPECT_EQ(unanswered[0].wait_for(0s), std::future_status::timeout);
}  // destroyed while they wait: returns at once

TEST(HttpLoop, NoAnswerInTimeIsAnErrorThatNamesTheServer) {
  ScriptedServer silent(
      [](const ReceivedRequest&, ScriptedConnection& connection) { connection.wait_for_peer(); });
  HttpLoop loop(4);
  const auto late = get(loop, silent.url() + "/v1/status", 50ms).get();
  EXPECT_TRUE(late.is(Code::kUnavailable)) << late.error().message;
  EXPECT_NE(late.error().message.find("/v1/status"), std::string::npos) << late.error().message;
  const auto refused = get(loop, "http://127.0.0.1:1/").get();
  EXPECT_TRUE(refused.is(Code::kUnavailable)) << refused.error().message;
  EXPECT_TRUE(get(loop, "no url").get().is(Code::kInvalid));
}

TEST(HttpLoop, ACallbackMaySendTheNextRequest) {
  ScriptedServer server([](const ReceivedRequest& seen, ScriptedConnection& connection) {
    connection.reply(200, seen.target);
  });
  HttpLoop loop(4);
  std::promise<std::string> second;
  loop.send({.url = server.url() + "/1"}, {}, 10s, [&](const Result<HttpReply>&) {
    loop.send({.url = server.url() + "/2"}, {}, 10s,
              [&](const Result<HttpReply>& reply) { second.set_value(reply ? reply->body : ""); });
  });
  EXPECT_EQ(second.get_future().get(), "/2");
}

TEST(HttpLoop, VerifiesEachServerWithTheAuthorityOfItsRequest) {
  const Pair authority = make_ca("a set's authority"), other = make_ca("another set's");
  ScriptedServer server(
      [](const ReceivedRequest&, ScriptedConnection& connection) { connection.reply(200, "ok"); },
      ScriptedServer::Tls{.server = make_leaf(authority, {.san = "DNS:runtime.train"})});
  HttpLoop loop(4);
  HttpOptions options;
  options.tls = {.ca_pem = authority.cert, .server_name = "runtime.train"};
  const auto reply = get(loop, server.url(), 10s, options).get();
  ASSERT_TRUE(reply) << reply.error().message;
  options.tls.ca_pem = other.cert;
  EXPECT_TRUE(get(loop, server.url(), 10s, options).get().is(Code::kUntrusted));
}

}  // namespace
}  // namespace paddle::net
