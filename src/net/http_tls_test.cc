// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "net/http_client.h"
#include "net/test_server/scripted_server.h"

namespace paddle::net {
namespace {

const Pair& ca() {
  static const Pair kPair = make_ca("the right CA");
  return kPair;
}

void answer(const ReceivedRequest&, ScriptedConnection& connection) { connection.reply(200, "ok"); }

Result<HttpReply> ask(ScriptedServer& server, TlsOptions tls,
                      const std::string& host = "127.0.0.1") {
  HttpClient client({.tls = std::move(tls), .proxy = ""});
  return client.send({.url = server.url(host)});
}

TEST(HttpTls, ACertificateFromTheGivenCaIsTrusted) {
  ScriptedServer server(answer, ScriptedServer::Tls{.server = make_leaf(ca(), {})});
  EXPECT_TRUE(ask(server, {.ca_pem = ca().cert}));
  EXPECT_TRUE(ask(server, {.ca_pem = ca().cert}, "localhost"));
}

TEST(HttpTls, UnknownWrongOrExpiredCertificatesAreRefusedBeforeAnythingIsSent) {
  const Pair other = make_ca("another CA");
  struct Case {
    const char* what;
    Leaf leaf;
    std::string trusted;
  };
  const Case cases[] = {
      {"unknown CA", {}, other.cert},
      {"system CAs only", {}, ""},
      {"wrong host", {.san = "DNS:elsewhere.example"}, ca().cert},
      {"expired", {.valid_from = -3600, .valid_to = -60}, ca().cert},
      {"not yet valid", {.valid_from = 600, .valid_to = 3600}, ca().cert},
  };
  for (const auto& [what, leaf, trusted] : cases) {
    ScriptedServer server(answer, ScriptedServer::Tls{.server = make_leaf(ca(), leaf)});
    const auto reply = ask(server, {.ca_pem = trusted});
    ASSERT_TRUE(reply.is(Code::kUntrusted)) << what;
    EXPECT_NE(reply.error().message.find("the server's certificate is not trusted"),
              std::string::npos)
        << what << ": " << reply.error().message;
    EXPECT_TRUE(server.seen().empty()) << what;
    EXPECT_TRUE(ask(server, {.ca_pem = trusted, .insecure = true})) << what;
  }
}

TEST(HttpTls, TheEnvironmentDoesNotAddTrustToAConfiguredCa) {
  const Pair other = make_ca("another CA");
  const std::string file = testing::TempDir() + "/right-ca.pem";
  FILE* out = std::fopen(file.c_str(), "w");
  std::fputs(ca().cert.c_str(), out);
  std::fclose(out);
  setenv("SSL_CERT_FILE", file.c_str(), 1);
  setenv("CURL_CA_BUNDLE", file.c_str(), 1);
  ScriptedServer server(answer, ScriptedServer::Tls{.server = make_leaf(ca(), {})});
  EXPECT_TRUE(ask(server, {.ca_pem = other.cert}).is(Code::kUntrusted));
  EXPECT_TRUE(ask(server, {.ca_file = file}));
  unsetenv("SSL_CERT_FILE");
  unsetenv("CURL_CA_BUNDLE");
}

TEST(HttpTls, AServerNameReplacesTheHostOnlyInTheVerification) {
  ScriptedServer server(answer,
                        ScriptedServer::Tls{.server = make_leaf(ca(), {.san = "DNS:api.example"})});
  EXPECT_TRUE(ask(server, {.ca_pem = ca().cert}).is(Code::kUntrusted));
  const auto reply = ask(server, {.ca_pem = ca().cert, .server_name = "api.example"});
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(server.seen()[0].headers.at("host"), "127.0.0.1:" + std::to_string(server.port()));
}

TEST(HttpTls, AClientCertificateIsSentOnRequest) {
  ScriptedServer server(answer,
                        ScriptedServer::Tls{.server = make_leaf(ca(), {}), .client_ca = ca().cert});
  const Pair me = make_leaf(ca(), {.common_name = "me", .client = true});
  EXPECT_TRUE(ask(server, {.ca_pem = ca().cert, .cert_pem = me.cert, .key_pem = me.key}));
  EXPECT_TRUE(ask(server, {.ca_pem = ca().cert}).is(Code::kUnavailable));

  const Pair stranger = make_leaf(make_ca("another CA"), {.client = true});
  EXPECT_TRUE(ask(server, {.ca_pem = ca().cert, .cert_pem = stranger.cert, .key_pem = stranger.key})
                  .is(Code::kUnavailable));
}

TEST(HttpTls, UnusableCertificatesAndKeysAreInvalid) {
  ScriptedServer server(answer, ScriptedServer::Tls{.server = make_leaf(ca(), {})});
  const Pair me = make_leaf(ca(), {.client = true}), other = make_leaf(ca(), {.client = true});
  const TlsOptions bad[] = {
      {.ca_pem = "not a certificate"},
      {.ca_file = "/nonexistent/ca.crt"},
      {.ca_pem = ca().cert, .cert_pem = "junk", .key_pem = "junk"},
      {.ca_pem = ca().cert, .cert_pem = me.cert, .key_pem = other.key},
      {.ca_pem = ca().cert, .cert_file = "/nonexistent", .key_file = "/nonexistent"},
  };
  for (const auto& tls : bad) {
    const auto reply = ask(server, tls);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Code::kInvalid) << reply.error().message;
  }
}

TEST(HttpTls, PlainHttpToATlsPortAndTheReverseFailCleanly) {
  ScriptedServer secure(answer, ScriptedServer::Tls{.server = make_leaf(ca(), {})});
  ScriptedServer plain(answer);
  HttpClient client({.tls = {.ca_pem = ca().cert}, .proxy = ""});
  EXPECT_TRUE(client
                  .send({.url = "http://127.0.0.1:" + std::to_string(secure.port())},
                        {.timeout = std::chrono::seconds{5}})
                  .is(Code::kUnavailable));
  // The scripted server waits for the end of a header that never comes; our deadline ends the call.
  EXPECT_FALSE(client.send({.url = "https://127.0.0.1:" + std::to_string(plain.port())},
                           {.timeout = std::chrono::milliseconds{300}}));
}

}  // namespace
}  // namespace paddle::net
