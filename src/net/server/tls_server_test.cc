// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <thread>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/scratch.h"
#include "base/unique_fd.h"
#include "net/http_client.h"
#include "net/server/http_server.h"
#include "tls/certificate.h"

namespace paddle::net {
namespace {

constexpr const char* kName = "imagenet-runtime.train";

class TlsServer : public testing::Test {
 protected:
  TlsServer() { renew(); }

  void renew() {
    const auto now = system_clock().wall();
    const tls::Validity valid{now - std::chrono::hours{1}, now + std::chrono::hours{1}};
    const auto ca =
        *tls::make_self_signed({.common_name = "ca", .valid = valid, .authority = true});
    const auto leaf = *tls::make_signed(
        {.common_name = kName, .names = std::string("DNS:") + kName, .valid = valid}, ca);
    ca_ = ca.certificate;
    write("tls.crt", leaf.certificate);
    write("tls.key", leaf.key);
  }
  void write(const std::string& name, const std::string& text) {
    const std::string path = directory_ + "/" + name;
    std::FILE* file = std::fopen((path + ".new").c_str(), "w");
    std::fputs(text.c_str(), file);
    std::fclose(file);
    std::filesystem::rename(path + ".new", path);
  }
  Result<std::unique_ptr<HttpServer>> start(ServerLimits limits = {}) {
    return HttpServer::start({"127.0.0.1", 0},
                             [](const ServerRequest& request) {
                               if (request.path == "/big")
                                 return ServerReply{.body = std::string(3 << 20, 'x')};
                               return ServerReply{.body = request.method + " " + request.path +
                                                          " " +
                                                          std::to_string(request.body.size())};
                             },
                             limits, {directory_ + "/tls.crt", directory_ + "/tls.key"});
  }
  Result<HttpReply> fetch(const HttpServer& server, HttpRequest request,
                          const std::string& name = kName) {
    HttpClient client({.tls = {.ca_pem = ca_, .server_name = name}, .proxy = ""});
    request.url = "https://127.0.0.1:" + std::to_string(server.address().port) + request.url;
    return client.send(request);
  }
  static UniqueFd dial(const HttpServer& server) {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(server.address().port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    return fd;
  }

  const Scratch scratch_{};
  const std::string directory_ = scratch_.path();
  std::string ca_;
};

TEST_F(TlsServer, AnswersClientsThatTrustItsAuthorityAndName) {
  const auto server = *start({.body_bytes = 2 << 20});
  EXPECT_EQ(fetch(*server, {.url = "/a"})->body, "GET /a 0");
  const auto put = fetch(*server, {.method = "PUT",
                                   .url = "/a",
                                   .headers = {{"Content-Type", "application/json"}},
                                   .body = std::string(1 << 20, 'y')});
  EXPECT_EQ(put->body, "PUT /a 1048576");
  EXPECT_EQ(fetch(*server, {.url = "/big"})->body.size(), std::size_t{3} << 20);
  EXPECT_TRUE(fetch(*server, {.url = "/a"}, "other-runtime.train").is(Code::kUntrusted));
  ca_ = tls::make_self_signed({.common_name = "x", .authority = true})->certificate;
  EXPECT_TRUE(fetch(*server, {.url = "/a"}).is(Code::kUntrusted));
}

TEST_F(TlsServer, LoadsARenewedCertificateWithoutARestartAndKeepsTheOldOneMeanwhile) {
  const auto server = *start();
  write("tls.key", "half of a k");
  EXPECT_TRUE(fetch(*server, {.url = "/a"}));
  renew();  // another authority: the old certificate would be refused
  EXPECT_TRUE(fetch(*server, {.url = "/a"}));
}

TEST_F(TlsServer, DoesNotStartWithoutAUsablePair) {
  const auto other = *tls::make_self_signed({.common_name = "x"});
  write("tls.key", other.key);
  EXPECT_TRUE(start().is(Code::kInvalid));
  std::filesystem::remove(directory_ + "/tls.key");
  EXPECT_TRUE(start().is(Code::kInvalid));
}

TEST_F(TlsServer, PlainTextAndSilenceAreCutOffAndTheServerContinues) {
  const auto server = *start({.whole_request = std::chrono::milliseconds{150}});
  for (const std::string& sent : {std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), std::string(),
                                  std::string("\x16\x03\x01\x02\x00\x01", 6)}) {
    const auto fd = dial(*server);
    ASSERT_EQ(::send(fd.get(), sent.data(), sent.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(sent.size()));
    std::string received;
    char part[512];
    for (ssize_t n; (n = ::recv(fd.get(), part, sizeof part, 0)) > 0;) {
      received.append(part, static_cast<std::size_t>(n));
    }
    EXPECT_EQ(received.find("HTTP"), std::string::npos);
  }
  HttpClient plain({.proxy = ""});
  EXPECT_FALSE(
      plain.send({.url = "http://127.0.0.1:" + std::to_string(server->address().port) + "/"}));
  EXPECT_FALSE(dial(*server).get() < 0);
}

TEST_F(TlsServer, StoppingEndsHandshakesThatNeverCome) {
  auto server = *start({.whole_request = std::chrono::hours{1}});
  const auto silent = dial(*server);
  ASSERT_TRUE(fetch(*server, {.url = "/a"}));  // the silent one has been accepted before this one
  server.reset();
  char byte = 0;
  EXPECT_LE(::recv(silent.get(), &byte, 1, 0), 0);
}

}  // namespace
}  // namespace paddle::net
