// SPDX-License-Identifier: Apache-2.0
#include "kube/client/client.h"

#include <atomic>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "net/test_server/scripted_server.h"

namespace paddle::kube {
namespace {

using namespace std::chrono_literals;
using net::ReceivedRequest;
using net::ScriptedConnection;
using net::ScriptedServer;
using resources::kConfigMaps;
using resources::kPods;

const Json kPod = {{"metadata", {{"name", "a"}, {"namespace", "n"}}}};

// Waits by advancing the clock, so that no test sleeps.
struct Bench {
  ManualClock clock{};
  Random random{1};
  Metrics metrics{};
  ClientOptions options() { return {.metrics = &metrics, .clock = &clock, .random = &random}; }
};

Config config_of(const ScriptedServer& server) {
  return {.server = server.url(), .proxy = "", .token = "sesame-secret"};
}

template <typename T>
std::string why(const Result<T>& result) {
  return result ? "done" : std::string(name(result.error().code)) + ": " + result.error().message;
}

TEST(Client, EachVerbSendsWhatTheServerExpects) {
  ScriptedServer server(
      [](const ReceivedRequest&, ScriptedConnection& connection) { connection.reply(200, "{}"); });
  Bench bench;
  Client client(config_of(server), bench.options());
  EXPECT_TRUE(client.get(kPods, {"n", "a"}));
  EXPECT_TRUE(client.get_sub(kPods, {"n", "a"}, "status"));
  EXPECT_TRUE(client.create(kPods, kPod));
  EXPECT_TRUE(client.update(kPods, kPod, "status"));
  EXPECT_TRUE(client.patch(kPods, {"n", "a"}, {.body = Json::object()}));
  EXPECT_TRUE(client.patch(kPods, {"n", "a"}, {.type = PatchType::kJson, .body = Json::array()}));
  EXPECT_TRUE(client.patch(
      kPods, {"n", "a"},
      {.type = PatchType::kApply, .body = Json::object(), .field_manager = "me", .force = true}));
  EXPECT_TRUE(client.remove(kPods, {"n", "a"},
                            {.uid = "u",
                             .resource_version = "7",
                             .propagation = Propagation::kForeground,
                             .grace_seconds = 0}));
  const char* expected[] = {
      "GET /api/v1/namespaces/n/pods/a ",
      "GET /api/v1/namespaces/n/pods/a/status ",
      "POST /api/v1/namespaces/n/pods?fieldManager=paddle-operator application/json",
      "PUT /api/v1/namespaces/n/pods/a/status?fieldManager=paddle-operator application/json",
      "PATCH /api/v1/namespaces/n/pods/a?fieldManager=paddle-operator application/merge-patch+json",
      "PATCH /api/v1/namespaces/n/pods/a?fieldManager=paddle-operator application/json-patch+json",
      "PATCH /api/v1/namespaces/n/pods/a?fieldManager=me&force=true application/apply-patch+yaml",
      "DELETE /api/v1/namespaces/n/pods/a application/json"};
  const auto seen = server.seen();
  ASSERT_EQ(seen.size(), std::size(expected));
  for (size_t i = 0; i < seen.size(); ++i) {
    const auto type = seen[i].headers.find("content-type");
    EXPECT_EQ(seen[i].method + " " + seen[i].target + " " +
                  (type == seen[i].headers.end() ? "" : type->second),
              expected[i]);
    EXPECT_EQ(seen[i].headers.at("authorization"), "Bearer sesame-secret");
    EXPECT_TRUE(seen[i].headers.at("user-agent").starts_with("paddle-operator/"));
  }
  EXPECT_EQ(
      seen.back().body,
      R"({"apiVersion":"v1","gracePeriodSeconds":0,"kind":"DeleteOptions",)"
      R"("preconditions":{"resourceVersion":"7","uid":"u"},"propagationPolicy":"Foreground"})");
}

TEST(Client, AWriteThatWouldAddressACollectionIsRefusedHere) {
  Bench bench;
  Client client({.server = "http://127.0.0.1:1", .proxy = ""}, bench.options());
  EXPECT_TRUE(client.remove(kPods, {"n", ""}).is(Code::kInvalid));
  EXPECT_TRUE(client.remove(kPods, {"", "a"}).is(Code::kInvalid));
  EXPECT_TRUE(client.create(kPods, {{"metadata", {{"name", "a"}}}}).is(Code::kInvalid));
  EXPECT_TRUE(client.update(kPods, {{"metadata", {{"generateName", "a"}, {"namespace", "n"}}}})
                  .is(Code::kInvalid));
  EXPECT_TRUE(client.create(kPods, Json::array()).is(Code::kInvalid));
  Json stored = kPod;
  stored["metadata"]["resourceVersion"] = "7";
  EXPECT_TRUE(client.create(kPods, stored).is(Code::kInvalid));
  EXPECT_TRUE(client.patch(kPods, {"n", "a"}, {.type = PatchType::kApply, .body = Json::object()})
                  .is(Code::kInvalid));
}

TEST(Client, ReadsAListPageByPage) {
  ScriptedServer server([](const ReceivedRequest& seen, ScriptedConnection& connection) {
    const bool second = seen.target.find("continue=next") != std::string::npos;
    connection.reply(
        200,
        second
            ? R"({"metadata":{"resourceVersion":"9"},"items":[{"c":3}]})"
            : R"({"metadata":{"resourceVersion":"9","continue":"next"},"items":[{"a":1},{"b":2}]})");
  });
  Bench bench;
  Client client(config_of(server), bench.options());
  std::string all;
  const auto version = client.list(
      kPods, {.ns = "n", .label_selector = "a=b", .page_size = 2, .resource_version = "5"},
      [&](std::string_view item) -> Result<> { return all += item, Done{}; });
  ASSERT_TRUE(version) << why(version);
  EXPECT_EQ(*version, "9");
  EXPECT_EQ(all, R"({"a":1}{"b":2}{"c":3})");
  EXPECT_EQ(server.seen()[0].target,
            "/api/v1/namespaces/n/pods?labelSelector=a%3Db&limit=2&resourceVersion=5"
            "&resourceVersionMatch=NotOlderThan");
  EXPECT_EQ(server.seen()[1].target,
            "/api/v1/namespaces/n/pods?labelSelector=a%3Db&limit=2&continue=next");
}

TEST(Client, AServerThatRepeatsAPageIsAnError) {
  ScriptedServer server([](const ReceivedRequest&, ScriptedConnection& connection) {
    connection.reply(200, R"({"metadata":{"continue":"same"},"items":[]})");
  });
  Bench bench;
  Client client(config_of(server), bench.options());
  EXPECT_TRUE(client.list(kPods, {}, [](std::string_view) -> Result<> { return Done{}; })
                  .is(Code::kInternal));
}

TEST(Client, ABrokenListIsOneClearError) {
  const std::pair<const char*, Code> cases[] = {{R"({"items":[{"a":1},)", Code::kUnavailable},
                                                {"<html>proxy</html>", Code::kInternal},
                                                {R"({"kind":"Pod"})", Code::kInternal}};
  for (const auto& [body, code] : cases) {
    ScriptedServer server([body = body](const ReceivedRequest&, ScriptedConnection& connection) {
      connection.reply(200, body);
    });
    Bench bench;
    Client client(config_of(server), bench.options());
    const auto listed = client.list(kPods, {}, [](std::string_view) -> Result<> { return Done{}; });
    EXPECT_TRUE(listed.is(code)) << body << ": " << why(listed);
    EXPECT_FALSE(client.get(kPods, {"n", "a"}) && code != Code::kInternal);
  }
}

TEST(Client, AWatchEndsWellCutOrExpired) {
  struct Case {
    std::function<void(ScriptedConnection&)> script;
    std::string outcome;
    int events;
  };
  const std::string event = R"({"type":"ADDED","object":{"a":1}})";
  const Case cases[] = {
      {[&](ScriptedConnection& w) {
         w.begin_chunks(), w.chunk(event + "\n" + event), w.end_chunks();
       },
       "done", 2},
      {[&](ScriptedConnection& w) {
         w.begin_chunks(), w.chunk(event + event.substr(0, 20)), w.close();
       },
       "Unavailable", 1},
      {[&](ScriptedConnection& w) {
         w.begin_chunks(), w.chunk(event + event.substr(0, 20)), w.end_chunks();
       },
       "Unavailable", 1},
      {[&](ScriptedConnection& w) { w.begin_chunks(), w.chunk(event), w.reset(); }, "Unavailable",
       1},
      {[&](ScriptedConnection& w) {
         w.reply(410, R"({"kind":"Status","code":410,"message":"old"})");
       },
       "Expired", 0},
      {[&](ScriptedConnection& w) {
         w.begin_chunks();
         w.chunk(event +
                 R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"old"}})");
         w.wait_for_peer();
       },
       "Expired", 1},
      {[&](ScriptedConnection& w) { w.begin_chunks(), w.chunk("garbage"), w.wait_for_peer(); },
       "Internal", 0},
      {[&](ScriptedConnection& w) {
         w.begin_chunks(), w.chunk("{" + std::string(20'000, 'x')), w.wait_for_peer();
       },
       "Invalid", 0}};
  for (const auto& [script, outcome, events] : cases) {
    ScriptedServer server(
        [s = script](const ReceivedRequest&, ScriptedConnection& connection) { s(connection); });
    Bench bench;
    auto options = bench.options();
    options.max_object = 10'000;
    Client client(config_of(server), options);
    int seen = 0;
    const auto done = client.watch(kPods, {.resource_version = "5"},
                                   [&](const WatchEvent&) -> Result<> { return ++seen, Done{}; });
    EXPECT_EQ(why(done).substr(0, outcome.size()), outcome) << why(done);
    // What arrives together with a reset may be lost with it.
    if (outcome != "Unavailable") {
      EXPECT_EQ(seen, events) << why(done);
    }
    EXPECT_LE(seen, events);
    EXPECT_EQ(
        server.seen()[0].target,
        "/api/v1/pods?watch=true&resourceVersion=5&allowWatchBookmarks=true&timeoutSeconds=300");
  }
}

TEST(Client, AStopEndsAnIdleWatch) {
  ScriptedServer server([](const ReceivedRequest&, ScriptedConnection& connection) {
    connection.begin_chunks();
    connection.chunk(R"({"type":"BOOKMARK","object":{}})");
    connection.wait_for_peer();
  });
  Client client(config_of(server));
  std::stop_source stop;
  std::atomic<bool> begun = false;
  std::jthread stopper([&] {
    begun.wait(false);
    stop.request_stop();
  });
  const auto done = client.watch(kPods, {},
                                 [&](const WatchEvent&) -> Result<> {
                                   begun = true;
                                   begun.notify_all();
                                   return Done{};
                                 },
                                 {.stop = stop.get_token()});
  EXPECT_TRUE(done.is(Code::kCancelled)) << why(done);
}

TEST(Client, ASilentServerMeetsTheDeadline) {
  ScriptedServer server(
      [](const ReceivedRequest&, ScriptedConnection& connection) { connection.wait_for_peer(); });
  Client client(config_of(server));
  EXPECT_TRUE(client.get(kPods, {"n", "a"}, {.timeout = 50ms}).is(Code::kDeadline));
  EXPECT_TRUE(
      client
          .watch(kPods, {}, [](const WatchEvent&) -> Result<> { return Done{}; }, {.timeout = 50ms})
          .is(Code::kDeadline));
}

TEST(Client, WaitsAsLongAsTheServerRequestsAndTriesAgain) {
  std::atomic<int> calls = 0;
  ScriptedServer server([&](const ReceivedRequest&, ScriptedConnection& connection) {
    if (++calls <= 2)
      return connection.reply(calls == 1 ? 429 : 503, "busy", {{"Retry-After", "3"}});
    connection.reply(201, R"({"ok":true})");
  });
  Bench bench;
  Client client(config_of(server), bench.options());
  const auto made = client.create(kPods, kPod);
  ASSERT_TRUE(made) << why(made);
  EXPECT_GE(bench.clock.boot(), BootTime{6s});
  EXPECT_NE(bench.metrics.text().find(
                R"(paddle_api_requests_total{code="429",resource="pods",verb="create"} 1)"),
            std::string::npos)
      << bench.metrics.text();
}

TEST(Client, AWriteThatMayHaveHappenedIsNotRepeated) {
  for (const int status : {500, 502, 503, 504}) {
    ScriptedServer server([=](const ReceivedRequest&, ScriptedConnection& connection) {
      connection.reply(status, "no");
    });
    Bench bench;
    Client client(config_of(server), bench.options());
    EXPECT_FALSE(client.create(kPods, kPod));
    EXPECT_EQ(server.seen().size(), 1u) << status;
  }
}

TEST(Client, APauseLongerThanTheDeadlineIsReturnedToTheCaller) {
  ScriptedServer server([](const ReceivedRequest&, ScriptedConnection& connection) {
    connection.reply(429, "busy", {{"Retry-After", "60"}});
  });
  Bench bench;
  Client client(config_of(server), bench.options());
  const auto made = client.create(kPods, kPod, {.timeout = 5s});
  ASSERT_TRUE(made.is(Code::kThrottled)) << why(made);
  EXPECT_EQ(made.error().retry_after, 60s);
  // The gate is closed: the next call for pods is not sent, one for another resource is.
  EXPECT_TRUE(client.get(kPods, {"n", "a"}, {.timeout = 5s}).is(Code::kThrottled));
  EXPECT_EQ(server.seen().size(), 1u);
  EXPECT_TRUE(client.get(kConfigMaps, {"n", "a"}, {.timeout = 5s}).is(Code::kThrottled));
  EXPECT_EQ(server.seen().size(), 2u);
}

TEST(Client, AnExpiredTokenIsReadAgainOnce) {
  const std::string path = testing::TempDir() + "/client-token-" + std::to_string(getpid());
  std::ofstream(path) << "old";
  ScriptedServer server([&](const ReceivedRequest& seen, ScriptedConnection& connection) {
    if (seen.headers.at("authorization") == "Bearer new") return connection.reply(200, "{}");
    std::ofstream(path) << "new";
    connection.reply(401, R"({"kind":"Status","code":401,"message":"Unauthorized"})");
  });
  Bench bench;
  Client client({.server = server.url(), .proxy = "", .token_file = path}, bench.options());
  EXPECT_TRUE(client.create(kPods, kPod));
  EXPECT_EQ(server.seen().size(), 2u);

  Client fixed(config_of(server), bench.options());
  EXPECT_TRUE(fixed.get(kPods, {"n", "a"}).is(Code::kUnauthorized));
  EXPECT_EQ(server.seen().size(), 3u);
  std::remove(path.c_str());
}

TEST(Client, NeitherAHostileServerNorARedirectGetsOurTokenIntoAMessage) {
  ScriptedServer echo([](const ReceivedRequest& seen, ScriptedConnection& connection) {
    connection.reply(500, seen.headers.at("authorization"));
  });
  Bench bench;
  Client client(config_of(echo), bench.options());
  const auto echoed = client.get(kPods, {"n", "a"});
  EXPECT_EQ(why(echoed), "Internal: get pods n/a: the server answered 500: Bearer <redacted>");

  ScriptedServer elsewhere([](const ReceivedRequest&, ScriptedConnection& connection) {
    connection.reply(307, "", {{"Location", "https://u:p@evil.example/x?y"}});
  });
  Client sent(config_of(elsewhere), bench.options());
  EXPECT_EQ(why(sent.get(kPods, {"n", "a"})),
            "Invalid: get pods n/a: the server redirects to https://evil.example/x, which is not "
            "followed");
}

TEST(Client, AResponseThatIsNotJsonIsOneClearError) {
  for (const char* body : {"", "{", "<html>", "[[[[", "\xff\xfe"}) {
    ScriptedServer server([=](const ReceivedRequest&, ScriptedConnection& connection) {
      connection.reply(200, body);
    });
    Bench bench;
    Client client(config_of(server), bench.options());
    EXPECT_TRUE(client.get(kPods, {"n", "a"}).is(Code::kInternal)) << body;
  }
}

TEST(Client, ImpersonatesAndUsesBasicAuthentication) {
  ScriptedServer server(
      [](const ReceivedRequest&, ScriptedConnection& connection) { connection.reply(200, "{}"); });
  Bench bench;
  Client client({.server = server.url(),
                 .proxy = "",
                 .username = "me",
                 .password = "secret",
                 .impersonate = {.user = "them", .uid = "7", .groups = {"g"}}},
                bench.options());
  ASSERT_TRUE(client.get(kPods, {"n", "a"}));
  const auto headers = server.seen()[0].headers;
  EXPECT_EQ(headers.at("authorization"), "Basic bWU6c2VjcmV0");
  EXPECT_EQ(headers.at("impersonate-user"), "them");
  EXPECT_EQ(headers.at("impersonate-uid"), "7");
  EXPECT_EQ(headers.at("impersonate-group"), "g");
}

}  // namespace
}  // namespace paddle::kube
