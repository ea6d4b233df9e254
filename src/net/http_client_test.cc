// SPDX-License-Identifier: Apache-2.0
#include "net/http_client.h"

#include <thread>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "net/test_server/scripted_server.h"

namespace paddle::net {
namespace {

using namespace std::chrono_literals;

HttpOptions direct() { return {.proxy = "", .user_agent = "tester/1"}; }

TEST(HttpClient, SendsMethodHeadersAndBodyAndReturnsTheResponse) {
  ScriptedServer server([](const ReceivedRequest& seen, ScriptedConnection& connection) {
    connection.reply(
        201, seen.method + " " + seen.target + " " + seen.headers.at("x-a") + " " + seen.body,
        {{"Content-Type", "text/plain"}, {"Retry-After", "7"}});
  });
  HttpClient client(direct());
  const auto reply = client.send({.method = "PATCH",
                                  .url = server.url() + "/p?q=1",
                                  .headers = {{"X-A", "b"}},
                                  .body = "hello"});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->status, 201);
  EXPECT_EQ(reply->body, "PATCH /p?q=1 b hello");
  EXPECT_EQ(reply->content_type, "text/plain");
  EXPECT_EQ(reply->retry_after, 7s);
  EXPECT_EQ(server.seen()[0].headers.at("user-agent"), "tester/1");
  EXPECT_EQ(server.seen()[0].headers.count("expect"), 0u);
}

TEST(HttpClient, KeepsOneConnectionForCallsInTurn) {
  ScriptedServer server(
      [](const ReceivedRequest&, ScriptedConnection& connection) { connection.reply(200, "ok"); });
  HttpClient client(direct());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(client.send({.url = server.url()}));
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpClient, CallsAtTheSameTimeDoNotWaitForEachOther) {
  std::atomic<int> inside = 0;
  ScriptedServer server([&](const ReceivedRequest&, ScriptedConnection& connection) {
    ++inside;
    while (inside < 4) std::this_thread::yield();  // answers only once all four are here
    connection.reply(200, "ok");
  });
  HttpClient client(direct());
  std::vector<std::jthread> callers;
  std::atomic<int> answered = 0;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] { answered += client.send({.url = server.url()}) ? 1 : 0; });
  }
  callers.clear();
  EXPECT_EQ(answered, 4);
}

TEST(HttpClient, AnIdempotentRequestSurvivesADeadKeptAliveConnection) {
  ScriptedServer server([](const ReceivedRequest& seen, ScriptedConnection& connection) {
    if (seen.connection == 0 && seen.target == "/second") return connection.reset();
    connection.reply(200, seen.target);
  });
  HttpClient client(direct());
  ASSERT_TRUE(client.send({.url = server.url() + "/first"}));
  const auto reply = client.send({.method = "PUT", .url = server.url() + "/second", .body = "b"});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->body, "/second");
  EXPECT_EQ(server.seen().size(), 3u);
  EXPECT_EQ(server.seen()[2].body, "b");
}

TEST(HttpClient, ARequestThatMayNotBeSentAnyMoreIsNotSentOnASecondAttemptEither) {
  std::atomic<bool> allowed = true;
  ScriptedServer server([&](const ReceivedRequest& seen, ScriptedConnection& connection) {
    if (seen.target == "/second") {
      allowed = false;  // and libcurl would now try again on a new connection
      return connection.reset();
    }
    connection.reply(200, seen.target);
  });
  HttpClient client(direct());
  const HttpCall gated{.may_send = [&] { return allowed.load(); }};
  ASSERT_TRUE(client.send({.url = server.url() + "/first"}, gated));
  for (const char* method : {"PUT", "POST", "DELETE", "GET"}) {
    const HttpRequest request{.method = method, .url = server.url() + "/second", .body = "b"};
    EXPECT_TRUE(client.send(request, gated).is(Code::kCancelled)) << method;
  }
  EXPECT_EQ(server.seen().size(), 2u);
}

TEST(HttpClient, ANonIdempotentRequestIsSentAtMostOnce) {
  for (const bool orderly : {true, false}) {
    ScriptedServer server([=](const ReceivedRequest& seen, ScriptedConnection& connection) {
      if (seen.method == "GET") return connection.reply(200, "ok");
      orderly ? connection.close() : connection.reset();
    });
    HttpClient client(direct());
    ASSERT_TRUE(client.send({.url = server.url()}));
    const auto reply =
        client.send({.method = "POST", .url = server.url(), .body = "b", .idempotent = false});
    EXPECT_TRUE(reply.is(Code::kUnavailable));
    EXPECT_EQ(server.seen().size(), 2u) << "orderly=" << orderly;
  }
}

TEST(HttpClient, ADeadlineEndsACallToASilentServer) {
  ScriptedServer server(
      [](const ReceivedRequest&, ScriptedConnection& connection) { connection.wait_for_peer(); });
  HttpClient client(direct());
  const auto reply = client.send({.url = server.url()}, {.timeout = 50ms});
  ASSERT_TRUE(reply.is(Code::kDeadline));
}

TEST(HttpClient, ABodyThatStallsEndsTheCallAndOneThatMovesDoesNot) {
  ScriptedServer server([](const ReceivedRequest& seen, ScriptedConnection& connection) {
    connection.begin_chunks();
    connection.chunk("a");
    if (seen.target == "/stalls") return connection.wait_for_peer();
    connection.chunk("b");
    connection.end_chunks();
  });
  HttpClient client(direct());
  const HttpCall patient{.timeout = 0ms, .stall_timeout = 50ms};
  const auto stalled = client.send({.url = server.url() + "/stalls"}, patient);
  ASSERT_TRUE(stalled.is(Code::kDeadline));
  EXPECT_NE(stalled.error().message.find("stalled"), std::string::npos);
  const auto whole = client.send({.url = server.url() + "/moves"}, {.stall_timeout = 60s});
  ASSERT_TRUE(whole) << whole.error().message;
  EXPECT_EQ(whole->body, "ab");
}

TEST(HttpClient, ABodyOfTooFewBytesInTheTimeHasStalled) {
  ScriptedServer server([](const ReceivedRequest&, ScriptedConnection& connection) {
    connection.begin_chunks();
    for (int i = 0; i < 100; ++i) connection.chunk("a");
    connection.wait_for_peer();
  });
  HttpClient client(direct());
  const auto dripped = client.send({.url = server.url()},
                                   {.timeout = 0ms, .stall_timeout = 50ms, .stall_bytes = 4096});
  EXPECT_TRUE(dripped.is(Code::kDeadline));
}

TEST(HttpClient, AHeaderThatIsRefusedEndsTheCallBeforeItsBody) {
  ScriptedServer server([](const ReceivedRequest&, ScriptedConnection& connection) {
    connection.reply(200, "body", {{"ETag", "\"other\""}});
  });
  HttpClient client(direct());
  std::string taken;
  const HttpCall call{.on_header = [](const HttpReply& header) -> Result<> {
    if (header.etag == "\"mine\"") return Done{};
    return Error{Code::kConflict, "another version"};
  }};
  const auto reply = client.stream(
      {.url = server.url()},
      [&](std::string_view piece) -> Result<> {
        taken += piece;
        return Done{};
      },
      call);
  ASSERT_TRUE(reply.is(Code::kConflict));
  EXPECT_EQ(reply.error().message, "another version");
  EXPECT_EQ(taken, "");
}

TEST(HttpClient, ReturnsEveryHeaderUnderItsNameInLowerCase) {
  ScriptedServer server([](const ReceivedRequest&, ScriptedConnection& connection) {
    connection.reply(200, "ok", {{"X-Amz-Checksum-CRC32C", "AAAA=="}, {"x-other", "b"}});
  });
  HttpClient client(direct());
  const auto reply = client.send({.url = server.url()});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->header("x-amz-checksum-crc32c"), "AAAA==");
  EXPECT_EQ(reply->header("x-other"), "b");
  EXPECT_EQ(reply->header("x-none"), "");
}

TEST(HttpClient, TheHeaderTimeoutDoesNotBoundTheBody) {
  ScriptedServer server([](const ReceivedRequest&, ScriptedConnection& connection) {
    connection.begin_chunks();
    (void)system_clock().sleep(150ms, {});
    connection.chunk("late");
    connection.end_chunks();
  });
  HttpClient client(direct());
  std::string got;
  const auto reply =
      client.stream({.url = server.url()},
                    [&](std::string_view piece) -> Result<> { return got += piece, Done{}; },
                    {.timeout = 0ms, .header_timeout = 100ms});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(got, "late");
}

TEST(HttpClient, AStopEndsACallThatWaitsForData) {
  std::stop_source stop;
  ScriptedServer server([&](const ReceivedRequest&, ScriptedConnection& connection) {
    connection.begin_chunks();
    connection.chunk("one");
    connection.wait_for_peer();
  });
  HttpClient client(direct());
  std::atomic<bool> begun = false;
  std::jthread stopper([&] {
    begun.wait(false);
    stop.request_stop();
  });
  const auto reply = client.stream({.url = server.url()},
                                   [&](std::string_view) -> Result<> {
                                     begun = true;
                                     begun.notify_all();
                                     return Done{};
                                   },
                                   {.timeout = 0ms, .stop = stop.get_token()});
  EXPECT_TRUE(reply.is(Code::kCancelled));
  EXPECT_TRUE(client.send({.url = server.url()}, {.stop = stop.get_token()}).is(Code::kCancelled));
}

TEST(HttpClient, TheSinksErrorEndsTheTransferUnchanged) {
  ScriptedServer server([](const ReceivedRequest&, ScriptedConnection& connection) {
    connection.begin_chunks();
    for (int i = 0; i < 1000; ++i) connection.chunk(std::string(10'000, 'x'));
    connection.end_chunks();
  });
  HttpClient client(direct());
  int pieces = 0;
  const auto reply = client.stream({.url = server.url()}, [&](std::string_view) -> Result<> {
    if (++pieces == 3) return Error{Code::kConflict, "had enough"};
    return Done{};
  });
  ASSERT_TRUE(reply.is(Code::kConflict));
  EXPECT_EQ(reply.error().message, "had enough");
  EXPECT_EQ(pieces, 3);
}

TEST(HttpClient, ASinkThatThrowsIsAnErrorNotACrash) {
  ScriptedServer server(
      [](const ReceivedRequest&, ScriptedConnection& connection) { connection.reply(200, "x"); });
  HttpClient client(direct());
  const auto reply =
      client.stream({.url = server.url()}, [](std::string_view) -> Result<> { throw 1; });
  EXPECT_TRUE(reply.is(Code::kInternal));
}

TEST(HttpClient, OnlyASuccessReachesTheSink) {
  ScriptedServer server([](const ReceivedRequest&, ScriptedConnection& connection) {
    connection.reply(410, "gone");
  });
  HttpClient client(direct());
  bool called = false;
  const auto reply = client.stream({.url = server.url()}, [&](std::string_view) -> Result<> {
    called = true;
    return Done{};
  });
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 410);
  EXPECT_EQ(reply->body, "gone");
  EXPECT_FALSE(called);
}

TEST(HttpClient, ATruncatedBodyIsAnError) {
  ScriptedServer server([](const ReceivedRequest& seen, ScriptedConnection& connection) {
    if (seen.target == "/length") {
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    } else {
      connection.begin_chunks();
      connection.chunk("half");
    }
    connection.close();
  });
  HttpClient client(direct());
  EXPECT_TRUE(client.send({.url = server.url() + "/length"}).is(Code::kUnavailable));
  EXPECT_TRUE(client.send({.url = server.url() + "/chunks"}).is(Code::kUnavailable));
}

TEST(HttpClient, ATooLargeResponseIsRefusedAndATooLargeErrorIsCut) {
  ScriptedServer server([](const ReceivedRequest& seen, ScriptedConnection& connection) {
    connection.reply(seen.target == "/good" ? 200 : 500, std::string(100'000, 'x'));
  });
  auto options = direct();
  options.max_body = 1000;
  HttpClient client(options);
  EXPECT_TRUE(client.send({.url = server.url() + "/good"}).is(Code::kInvalid));
  const auto bad = client.send({.url = server.url() + "/bad"});
  ASSERT_TRUE(bad) << bad.error().message;
  EXPECT_EQ(bad->status, 500);
  EXPECT_EQ(bad->body.size(), 1000u);
}

TEST(HttpClient, EndlessHeadersAreRefused) {
  ScriptedServer server([](const ReceivedRequest&, ScriptedConnection& connection) {
    connection.send("HTTP/1.1 200 OK\r\n");
    const std::string line = "X-Filler: " + std::string(1000, 'x') + "\r\n";
    for (int i = 0; i < 2000; ++i) connection.send(line);
    connection.close();
  });
  HttpClient client(direct());
  EXPECT_TRUE(client.send({.url = server.url()}).is(Code::kInvalid));
}

TEST(HttpClient, RedirectsAreReturnedNotFollowed) {
  ScriptedServer server([](const ReceivedRequest&, ScriptedConnection& connection) {
    connection.reply(302, "", {{"Location", "http://127.0.0.1:1/elsewhere"}});
  });
  HttpClient client(direct());
  const auto reply =
      client.send({.url = server.url(), .headers = {{"Authorization", "Bearer secret"}}});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 302);
  EXPECT_EQ(reply->location, "http://127.0.0.1:1/elsewhere");
  EXPECT_EQ(server.seen().size(), 1u);
}

TEST(HttpClient, AHeaderCannotSmuggleASecondOne) {
  HttpClient client(direct());
  EXPECT_TRUE(client.send({.url = "http://127.0.0.1:1", .headers = {{"A", "b\r\nC: d"}}})
                  .is(Code::kInvalid));
  EXPECT_TRUE(
      client.send({.url = "http://127.0.0.1:1", .headers = {{"A\n", "b"}}}).is(Code::kInvalid));
}

TEST(HttpClient, ReportsOneClearSentencePerFailure) {
  HttpClient client(direct());
  const auto refused = client.send({.url = "http://me:secret@127.0.0.1:1/x?token=hidden"});
  ASSERT_TRUE(refused.is(Code::kUnavailable));
  EXPECT_TRUE(refused.error().message.starts_with("GET http://127.0.0.1:1/x: cannot connect ("))
      << refused.error().message;
  EXPECT_EQ(refused.error().message.find("secret"), std::string::npos);
  EXPECT_EQ(refused.error().message.find("hidden"), std::string::npos);
  EXPECT_TRUE(client.send({.url = "file:///etc/passwd"}).is(Code::kInvalid));

  ScriptedServer garbage([](const ReceivedRequest&, ScriptedConnection& connection) {
    connection.send("SSH-2.0-OpenSSH_9.2\r\n");
    connection.close();
  });
  EXPECT_TRUE(client.send({.url = garbage.url()}).is(Code::kUnavailable));
}

TEST(HttpClient, GoesThroughAnHttpProxyWithItsCredentials) {
  ScriptedServer proxy([](const ReceivedRequest&, ScriptedConnection& connection) {
    connection.reply(200, "from the proxy");
  });
  auto options = direct();
  options.proxy = "http://me:secret@127.0.0.1:" + std::to_string(proxy.port());
  HttpClient client(options);
  const auto reply = client.send({.url = "http://far.example/x"});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(proxy.seen()[0].target, "http://far.example/x");
  EXPECT_EQ(proxy.seen()[0].headers.at("proxy-authorization"), "Basic bWU6c2VjcmV0");
}

TEST(HttpClient, AProxyThatRefusesATunnelIsUnavailableAndIsNotNamed) {
  ScriptedServer proxy(
      [](const ReceivedRequest&, ScriptedConnection& connection) { connection.reply(403, "no"); });
  auto options = direct();
  options.proxy = "http://me:secret@127.0.0.1:" + std::to_string(proxy.port());
  HttpClient client(options);
  const auto reply =
      client.send({.url = "https://far.example", .headers = {{"Authorization", "Bearer token"}}});
  ASSERT_TRUE(reply.is(Code::kUnavailable)) << name(reply.error().code);
  EXPECT_EQ(proxy.seen()[0].method, "CONNECT");
  EXPECT_EQ(proxy.seen()[0].headers.count("authorization"), 0u);
  EXPECT_EQ(reply.error().message.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace paddle::net
