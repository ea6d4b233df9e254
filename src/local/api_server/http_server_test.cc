// SPDX-License-Identifier: Apache-2.0
//
// The server with hostile or careless clients: raw bytes on a socket.
#include "local/api_server/http_server.h"

#include <memory>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/socket.h>

#include "base/scratch.h"
#include "base/unique_fd.h"
#include "local/api_server/server.h"

namespace paddle::local {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class HttpServerTest : public testing::Test {
 protected:
  void SetUp() override {
    ::signal(SIGPIPE, SIG_IGN);  // the server closes the connection in some tests
    start({});
  }

  void start(HttpOptions http) {
    server_.reset();
    auto started =
        ApiServer::start({.directory = scratch_.path() + "/data", .http = std::move(http)});
    ASSERT_TRUE(started) << started.error().message;
    server_ = *std::move(started);
  }

  // A TLS connection that verifies the server by its own certificate.
  struct Connection {
    UniqueFd fd{};
    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context{nullptr, SSL_CTX_free};
    std::unique_ptr<SSL, decltype(&SSL_free)> tls{nullptr, SSL_free};
  };

  Connection connect() const {
    Connection made{.fd = connect_plainly()};
    made.context.reset(SSL_CTX_new(TLS_client_method()));
    made.tls.reset(SSL_new(made.context.get()));
    SSL_set_fd(made.tls.get(), made.fd.get());
    SSL_connect(made.tls.get());
    return made;
  }

  UniqueFd connect_plainly() const {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const std::string url = server_->url();
    address.sin_port = htons(static_cast<uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))));
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
  }

  // The server closed the connection early: its reply has the reason.
  static void send(const Connection& to, const std::string& bytes) {
    SSL_write(to.tls.get(), bytes.data(), static_cast<int>(bytes.size()));
  }
  // Reads until `until` appears or the connection ends.
  static std::string receive(const Connection& from, const std::string& until = {}) {
    std::string got;
    char buffer[4096];
    while (until.empty() || got.find(until) == std::string::npos) {
      const int count = SSL_read(from.tls.get(), buffer, sizeof buffer);
      if (count <= 0) break;
      got.append(buffer, static_cast<size_t>(count));
    }
    return got;
  }
  std::string ask(const std::string& bytes) const {
    const Connection fd = connect();
    send(fd, bytes);
    return receive(fd);
  }
  std::string authorized(const std::string& line, const std::string& more = {}) const {
    return line + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + server_->token() + "\r\n" +
           more + "Connection: close\r\n\r\n";
  }

  Scratch scratch_;
  std::unique_ptr<ApiServer> server_;
};

TEST_F(HttpServerTest, AnswersClientsWithTheToken) {
  EXPECT_THAT(ask(authorized("GET /version")), StartsWith("HTTP/1.1 200"));
  const std::string head = ask(authorized("HEAD /version"));
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(head, testing::EndsWith("\r\n\r\n"));
}

TEST_F(HttpServerTest, RejectsConnectionsWithoutTls) {
  const UniqueFd fd = connect_plainly();
  const std::string bytes = authorized("GET /version");
  EXPECT_GT(::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), 0);
  char buffer[4096];
  std::string got;
  for (ssize_t count; (count = ::recv(fd.get(), buffer, sizeof buffer, 0)) > 0;) {
    got.append(buffer, static_cast<size_t>(count));
  }
  EXPECT_EQ(got.find("HTTP/1.1 200"), std::string::npos);
}

TEST_F(HttpServerTest, RejectsOtherClientsBeforeReadingTheBody) {
  const std::string end = "\r\nHost: x\r\n";
  EXPECT_THAT(ask("GET /api/v1/pods HTTP/1.1" + end + "\r\n"), StartsWith("HTTP/1.1 401"));
  for (const std::string& header : std::vector<std::string>{
           "Bearer wrong", "Bearer ", "Basic " + server_->token(), server_->token(),
           "Bearer " + server_->token() + "x",
           "Bearer " + server_->token().substr(0, server_->token().size() - 1)}) {
    EXPECT_THAT(ask("POST /api/v1/namespaces HTTP/1.1" + end + "Authorization: " + header +
                    "\r\nContent-Length: 1000000\r\n\r\n"),
                StartsWith("HTTP/1.1 401"))
        << header;
  }
  EXPECT_THAT(ask("GET /readyz HTTP/1.1" + end + "Connection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, SurvivesMalformedRequests) {
  for (const std::string& bytes :
       {std::string("nonsense\r\n\r\n"), std::string("\0\1\2\3\r\n\r\n", 8),
        std::string("GET\r\n\r\n"), "GET " + std::string(100'000, 'a') + " HTTP/1.1\r\n\r\n",
        authorized("GET /x", "Big: " + std::string(100'000, 'a') + "\r\n"),
        authorized("POST /api/v1/namespaces", "Content-Length: 99999999999\r\n"),
        authorized("POST /api/v1/namespaces", "Content-Length: 5\r\nContent-Length: 6\r\n"),
        authorized("POST /api/v1/namespaces", "Transfer-Encoding: chunked\r\n") + "zz\r\n",
        authorized("GET /api/v1/%2e%2e/x"), authorized("GET *")}) {
    const std::string answer = ask(bytes);
    EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 4")) << answer.substr(0, 200);
  }
  EXPECT_THAT(ask(authorized("GET /version")), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpServerTest, AClientThatSendsTooMuchCanReadTheRefusal) {
  const std::string body(std::size_t{12} << 20, 'x');
  const Connection fd = connect();
  send(fd, authorized("POST /api/v1/namespaces",
                      "Content-Length: " + std::to_string(body.size()) + "\r\n"));
  // In pieces, as clients do: the server refuses after the header.
  for (std::size_t at = 0; at < body.size(); at += std::size_t{1} << 20) {
    ASSERT_GT(SSL_write(fd.tls.get(), body.data() + at, 1 << 20), 0) << "closed after " << at;
  }
  EXPECT_THAT(receive(fd, "too large"), StartsWith("HTTP/1.1 413"));
}

TEST_F(HttpServerTest, SendsContinueOnlyForABodyThatItAccepts) {
  const Connection fd = connect();
  const std::string body = R"({"metadata":{"name":"later"}})";
  send(fd, authorized("POST /api/v1/namespaces", "Expect: 100-continue\r\nContent-Length: " +
                                                     std::to_string(body.size()) + "\r\n"));
  EXPECT_THAT(receive(fd, "\r\n\r\n"), StartsWith("HTTP/1.1 100"));
  send(fd, body);
  EXPECT_THAT(receive(fd), StartsWith("HTTP/1.1 201"));
}

TEST_F(HttpServerTest, ClosesTheConnectionOfASlowClient) {
  start({.first_request = std::chrono::seconds{1}, .body = std::chrono::seconds{1}});
  const Connection silent = connect();
  EXPECT_EQ(receive(silent), "");
  const Connection half = connect();
  send(half, "GET /version HTTP/1.1\r\nHost:");
  EXPECT_EQ(receive(half), "");
  const Connection bodiless = connect();
  send(bodiless, authorized("POST /api/v1/namespaces", "Content-Length: 10\r\n") + "{");
  EXPECT_EQ(receive(bodiless), "");
}

TEST_F(HttpServerTest, LimitsTheNumberOfConnections) {
  start({.connections = 2});
  const Connection first = connect();
  send(first, "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(receive(first, "ok"), StartsWith("HTTP/1.1 200"));
  const Connection second = connect();
  send(second, "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(receive(second, "ok"), StartsWith("HTTP/1.1 200"));
  const Connection third = connect();
  EXPECT_EQ(receive(third), "");
}

TEST_F(HttpServerTest, AWatchStreamsChangesAndEndsInTime) {
  const Connection fd = connect();
  send(fd, authorized("GET /api/v1/namespaces?watch=1&resourceVersion=0&timeoutSeconds=2"));
  EXPECT_THAT(receive(fd, "kube-system"), HasSubstr("ADDED"));
  EXPECT_THAT(ask(authorized("DELETE /api/v1/namespaces/kube-system")), StartsWith("HTTP/1.1 403"));
  const std::string body = R"({"metadata":{"name":"new"}})";
  const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
  EXPECT_THAT(ask(authorized("POST /api/v1/namespaces", length) + body),
              StartsWith("HTTP/1.1 201"));
  const std::string rest = receive(fd);
  EXPECT_THAT(rest, HasSubstr("\"name\":\"new\""));
  EXPECT_THAT(rest, testing::EndsWith("0\r\n\r\n"));
}

TEST_F(HttpServerTest, ListensOnLoopbackOnly) {
  server_.reset();
  const auto wide =
      ApiServer::start({.directory = scratch_.path() + "/data", .http = {.address = "0.0.0.0"}});
  ASSERT_FALSE(wide);
  EXPECT_THAT(wide.error().message, HasSubstr("not a loopback address"));
}

TEST(SameSecret, IsTrueForTheWholeSecretOnly) {
  EXPECT_TRUE(same_secret("abc", "abc"));
  EXPECT_FALSE(same_secret("abcabc", "abc"));
  EXPECT_FALSE(same_secret("ab", "abc"));
  EXPECT_FALSE(same_secret("", ""));
  EXPECT_FALSE(same_secret("abd", "abc"));
}

}  // namespace
}  // namespace paddle::local
