// SPDX-License-Identifier: Apache-2.0
#include "etcd/client.h"

#include <gtest/gtest.h>

#include "base/base64.h"
#include "net/test_server/scripted_server.h"

namespace paddle::etcd {
namespace {

TEST(EtcdEndpoints, AreReadAsUsersWriteThem) {
  using List = std::vector<std::string>;
  EXPECT_EQ(*parse_endpoints("e:2379"), List{"http://e:2379"});
  EXPECT_EQ(*parse_endpoints(" http://a:2379/ , https://b:2379,c:1,"),
            (List{"http://a:2379", "https://b:2379", "http://c:1"}));
  EXPECT_EQ(*parse_endpoints("[fd00::1]:2379"), List{"http://[fd00::1]:2379"});
  EXPECT_EQ(*parse_endpoints(""), List{});
  for (const char* bad : {"ftp://a:1", "http://", "a:1/path", "http://u:p@a:1", "a:1?x=y"}) {
    const auto refused = parse_endpoints(bad);
    ASSERT_TRUE(refused.is(Code::kInvalid)) << bad;
    EXPECT_EQ(refused.error().message.find("u:p"), std::string::npos);
  }
}

using net::ReceivedRequest;
using net::ScriptedConnection;
using net::ScriptedServer;

std::string one_entry(const std::string& value) {
  return R"({"header":{"revision":"7"},"kvs":[{"key":")" + base64_encode("k") + R"(","value":")" +
         base64_encode(value) + R"(","mod_revision":"5"}],"count":"1"})";
}

TEST(EtcdClient, TriesTheNextEndpointWhenOneIsAwayAndStaysWithTheOneThatAnswered) {
  ScriptedServer sick([](const ReceivedRequest&, ScriptedConnection& connection) {
    connection.reply(503, R"({"error":"no leader"})");
  });
  ScriptedServer sound([](const ReceivedRequest&, ScriptedConnection& connection) {
    connection.reply(200, one_entry("v"));
  });
  int unused_port = 0;
  {
    ScriptedServer gone([](const ReceivedRequest&, ScriptedConnection&) {});
    unused_port = gone.port();
  }
  Client client(
      {.endpoints = {"http://127.0.0.1:" + std::to_string(unused_port), sick.url(), sound.url()}});
  for (int i = 0; i < 3; ++i) {
    const auto found = client.get("k", {});
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ((**found), (Entry{"k", "v", 5}));
  }
  EXPECT_EQ(sick.seen().size(), 1u);
  EXPECT_EQ(sound.seen().size(), 3u);
}

TEST(EtcdClient, ASilentEndpointLeavesTimeForTheOthers) {
  ScriptedServer silent(
      [](const ReceivedRequest&, ScriptedConnection& connection) { connection.wait_for_peer(); });
  ScriptedServer sound(
      [](const ReceivedRequest&, ScriptedConnection& connection) { connection.reply(200, "{}"); });
  Client client(
      {.endpoints = {silent.url(), sound.url()}, .timeout = std::chrono::milliseconds{600}});
  EXPECT_TRUE(client.put("k", "v", {}));
  EXPECT_EQ(silent.seen().size(), 1u);
}

TEST(EtcdClient, NoResponseInTimeIsADeadlineAndNoServerIsUnavailable) {
  ScriptedServer silent(
      [](const ReceivedRequest&, ScriptedConnection& connection) { connection.wait_for_peer(); });
  Client waits({.endpoints = {silent.url()}, .timeout = std::chrono::milliseconds{100}});
  EXPECT_TRUE(waits.get("k", {}).is(Code::kDeadline));
  ScriptedServer sick([](const ReceivedRequest&, ScriptedConnection& connection) {
    connection.reply(503, "no JSON");
  });
  Client refused({.endpoints = {sick.url()}});
  EXPECT_TRUE(refused.get("k", {}).is(Code::kUnavailable));
}

TEST(EtcdClient, ARefusedCallIsNotSentToOtherEndpoints) {
  ScriptedServer strict([](const ReceivedRequest&, ScriptedConnection& connection) {
    connection.reply(400, R"({"error":"too large"})");
  });
  ScriptedServer other(
      [](const ReceivedRequest&, ScriptedConnection& connection) { connection.reply(200, "{}"); });
  Client client({.endpoints = {strict.url(), other.url()}});
  const auto refused = client.put("k", "v", {});
  ASSERT_TRUE(refused.is(Code::kInvalid));
  EXPECT_NE(refused.error().message.find("too large"), std::string::npos);
  EXPECT_EQ(other.seen().size(), 0u);
}

TEST(EtcdClient, AnInvalidResponseIsAnError) {
  for (const char* garbage : {"", "[]", "{\"kvs\":[{\"key\":\"***\"}]}", "<html>"}) {
    ScriptedServer server([&](const ReceivedRequest&, ScriptedConnection& connection) {
      connection.reply(200, garbage);
    });
    Client client({.endpoints = {server.url()}});
    EXPECT_FALSE(client.get("k", {})) << garbage;
  }
}

}  // namespace
}  // namespace paddle::etcd
