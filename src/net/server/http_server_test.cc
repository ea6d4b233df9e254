// SPDX-License-Identifier: Apache-2.0
#include "net/server/http_server.h"

#include <atomic>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace paddle::net {
namespace {

using std::chrono::milliseconds;

ServerReply echo(const ServerRequest& request) {
  if (request.path == "/throw") throw std::runtime_error("oh");
  if (request.path == "/big") return {.body = std::string(1 << 20, 'x')};
  return {.body = request.method + " " + request.path + "?" + request.query};
}

UniqueFd dial(const HttpServer& server) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(server.address().port));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  return fd;
}

void send_text(const UniqueFd& fd, const std::string& text) {
  size_t sent = 0;
  while (sent < text.size()) {
    const auto n = ::send(fd.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return;  // the server has hung up
    sent += static_cast<size_t>(n);
  }
}

std::string read_all(const UniqueFd& fd) {  // until the server closes
  std::string all;
  char part[4096];
  for (ssize_t n; (n = ::recv(fd.get(), part, sizeof part, 0)) > 0;) {
    all.append(part, static_cast<size_t>(n));
  }
  return all;
}

std::string fetch(const HttpServer& server, const std::string& request) {
  const auto fd = dial(server);
  send_text(fd, request);
  return read_all(fd);
}

std::unique_ptr<HttpServer> started(ServerLimits limits = {}, HttpServer::Handler handler = echo) {
  auto server = HttpServer::start({"127.0.0.1", 0}, std::move(handler), limits);
  EXPECT_TRUE(server) << server.error().message;
  return *std::move(server);
}

TEST(HttpServer, AnswersOnAPortThatTheKernelChose) {
  const auto server = started();
  EXPECT_GT(server->address().port, 0);
  const auto answer = fetch(*server, "GET /a%20b?z=1&verbose HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(answer.rfind("HTTP/1.1 200 OK\r\n", 0), 0u) << answer;
  EXPECT_NE(answer.find("GET /a b?verbose=&z=1"), answer.npos) << answer;
}

TEST(HttpServer, SendsALargeResponseCompletely) {
  const auto server = started();
  const auto answer = fetch(*server, "GET /big HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_GT(answer.size(), size_t{1} << 20);
}

TEST(HttpServer, HeadHasNoBodyAndOtherMethodsAreRefused) {
  const auto server = started();
  const auto head = fetch(*server, "HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(head.substr(head.size() - 4), "\r\n\r\n");
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH"}) {
    const auto answer = fetch(*server, std::string(method) + " /a HTTP/1.1\r\nHost: x\r\n" +
                                           "Content-Length: 999999999999\r\n\r\nabc");
    EXPECT_EQ(answer.rfind("HTTP/1.1 405", 0), 0u) << method << answer;
  }
}

TEST(HttpServer, AHandlerThatThrowsIsA500AndTheServerContinues) {
  const auto server = started();
  EXPECT_EQ(fetch(*server, "GET /throw HTTP/1.1\r\n\r\n").rfind("HTTP/1.1 500", 0), 0u);
  EXPECT_EQ(fetch(*server, "GET /a HTTP/1.1\r\n\r\n").rfind("HTTP/1.1 200", 0), 0u);
}

TEST(HttpServer, AnInvalidRequestIsRefusedAndTheServerContinues) {
  const auto server = started();
  for (const std::string& request :
       {std::string("\r\n\r\n"), std::string("GET\r\n\r\n"), std::string("GET / HTTP/9.9\r\n\r\n"),
        std::string("GET /%zz%00 HTTP/1.1\r\n: :\r\n\r\n"), std::string(5000, '\0') + "\r\n\r\n",
        "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nx: " + std::string(100'000, 'y') + "\r\n\r\n",
        std::string("GET / HTTP/1.1\r\nContent-Length: -1\r\nRange: bytes=9-1\r\n\r\n")}) {
    const auto answer = fetch(*server, request);
    EXPECT_EQ(answer.find("handler"), answer.npos);
  }
  EXPECT_EQ(fetch(*server, "GET /a HTTP/1.1\r\n\r\n").rfind("HTTP/1.1 200", 0), 0u);
}

TEST(HttpServer, EndlessHeadersAreCutOff) {
  const auto server = started({.request_bytes = 2000});
  const auto fd = dial(*server);
  send_text(fd, "GET / HTTP/1.1\r\n");
  for (int i = 0; i < 1000; ++i) send_text(fd, "h" + std::to_string(i) + ": v\r\n");
  EXPECT_EQ(read_all(fd).find("200 OK"), std::string::npos);
}

TEST(HttpServer, ASlowSenderIsCutOffAtTheLimitOfTheHeader) {
  const auto server = started({.header = milliseconds{150}});
  const auto fd = dial(*server);
  std::jthread dripping([&](std::stop_token stop) {
    while (!stop.stop_requested()) {
      send_text(fd, "G");
      system_clock().sleep(milliseconds{10}, stop);
    }
  });
  EXPECT_EQ(read_all(fd), "");  // returns because the server hung up; hangs if it never does
}

TEST(HttpServer, ASlowBodyIsCutOffAtTheLimitOfTheWholeRequest) {
  const auto server = started({.whole_request = milliseconds{150}, .body_bytes = 1000});
  const auto fd = dial(*server);
  send_text(fd, "PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\nabc");
  EXPECT_EQ(read_all(fd).find("200 OK"), std::string::npos);  // hangs if it is never cut off
}

TEST(HttpServer, AHandlerMayTakeLongerThanAHeader) {
  const auto server = started({.header = milliseconds{50}}, [](const ServerRequest&) {
    system_clock().sleep(milliseconds{200}, {});
    return ServerReply{.body = "late"};
  });
  EXPECT_TRUE(fetch(*server, "GET /a HTTP/1.1\r\n\r\n").ends_with("late"));
}

// Requests for /busy... end when the test says so.
struct Gate {
  std::latch open{1};
  std::atomic<int> inside{0};
  ServerReply operator()(const ServerRequest& request) {
    if (!request.path.starts_with("/busy")) return {.body = "GET " + request.path};
    ++inside;
    open.wait();
    return {.body = "GET " + request.path};
  }
  void wait_for(int count) const {
    while (inside < count) system_clock().sleep(milliseconds{1}, {});
  }
};

TEST(HttpServer, TheConnectionBeyondTheLimitIsClosedWhenAllOthersAreBusy) {
  Gate gate;
  const auto server = started({.connections = 2}, std::ref(gate));
  const auto a = dial(*server), b = dial(*server);
  send_text(a, "GET /busy-a HTTP/1.1\r\n\r\n");
  send_text(b, "GET /busy-b HTTP/1.1\r\n\r\n");
  gate.wait_for(2);
  EXPECT_EQ(fetch(*server, "GET /c HTTP/1.1\r\n\r\n"), "");
  gate.open.count_down();
  EXPECT_NE(read_all(a).find("GET /busy-a"), std::string::npos);
  EXPECT_NE(read_all(b).find("GET /busy-b"), std::string::npos);
}

TEST(HttpServer, SilentConnectionsKeepNoOtherClientOut) {
  Gate gate;
  const auto server = started({.connections = 4, .header = std::chrono::hours{1}}, std::ref(gate));
  const auto busy = dial(*server);
  send_text(busy, "GET /busy HTTP/1.1\r\n\r\n");
  gate.wait_for(1);
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 12; ++i) {  // each of the last ones takes the place of the oldest
    silent.push_back(dial(*server));
    if (i % 2 == 0) send_text(silent.back(), "GET /slow HTTP/1.1\r\nHalf: a head");
  }
  for (int i = 0; i < 3; ++i) {  // as kubelet's probes
    EXPECT_NE(fetch(*server, "GET /healthz HTTP/1.1\r\n\r\n").find("GET /healthz"),
              std::string::npos);
    silent.push_back(dial(*server));
  }
  EXPECT_EQ(read_all(silent.front()), "") << "the oldest had to make room";
  gate.open.count_down();
  EXPECT_NE(read_all(busy).find("GET /busy"), std::string::npos) << "a request is never cut off";
}

// Reads one answer with a Content-Length, and leaves the connection open.
std::string read_one(const UniqueFd& fd, const std::string& end) {
  std::string all;
  char part[1];
  while (!all.ends_with(end) && ::recv(fd.get(), part, 1, 0) > 0) all.push_back(part[0]);
  return all;
}

TEST(HttpServer, KeepsAFewConnectionsForFurtherRequests) {
  const auto server = started({.connections = 3, .kept = 1});
  const auto kept = dial(*server);
  for (const std::string path : {"/a", "/b", "/c"}) {
    send_text(kept, "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_TRUE(read_one(kept, "GET " + path + "?").ends_with("GET " + path + "?"));
    // One more than may stay open: its answer ends it.
    EXPECT_NE(fetch(*server, "GET /other HTTP/1.1\r\nHost: x\r\n\r\n").find("GET /other"),
              std::string::npos);
  }
  send_text(kept, "GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_NE(read_all(kept).find("GET /last"), std::string::npos);
}

TEST(HttpServer, AKeptConnectionEndsWhenItIsIdleOrARequestHadABody) {
  const auto server = started({.body_bytes = 1000, .kept = 4, .idle = milliseconds{50}});
  const auto idle = dial(*server);
  send_text(idle, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_NE(read_all(idle).find("GET /a"), std::string::npos);  // hangs if it is never closed
  const auto slow = started({.body_bytes = 1000, .kept = 4, .idle = std::chrono::hours{1}});
  const std::string refused =
      "PUT /a HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\n"
      "Content-Length: 38\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
  EXPECT_EQ(fetch(*slow, refused).find("smuggled"), std::string::npos);
  const std::string put = fetch(*slow, "PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab");
  EXPECT_NE(put.find("Connection: close"), std::string::npos)
      << "a client would use a connection again that is closed: " << put;
}

TEST(HttpServer, ASecondServerOnTheSamePortIsAnError) {
  const auto first = started();
  EXPECT_TRUE(HttpServer::start(first->address(), echo).is(Code::kUnavailable));
  EXPECT_TRUE(HttpServer::start({"192.0.2.1", 0}, echo).is(Code::kUnavailable));
}

TEST(HttpServer, ListensOnEveryInterfaceWhenNoneIsNamed) {
  auto server = HttpServer::start({"", 0}, echo);
  ASSERT_TRUE(server) << server.error().message;
  EXPECT_NE(fetch(**server, "GET /a HTTP/1.1\r\n\r\n").find("200 OK"), std::string::npos);
}

TEST(HttpServer, StoppingEndsIdleConnections) {
  auto server = started({.header = std::chrono::hours{1}, .whole_request = std::chrono::hours{1}});
  const auto silent = dial(*server);
  fetch(*server, "GET /a HTTP/1.1\r\n\r\n");  // the silent one has been accepted before this one
  server.reset();
  EXPECT_EQ(read_all(silent), "");
}

ServerReply describe(const ServerRequest& request) {
  return {.body = request.method + " " + request.path + " by " + request.authorization + ": " +
                  request.body};
}

std::string put(const std::string& body, const std::string& more = {}) {
  return "PUT /a HTTP/1.1\r\nHost: x\r\nAuthorization: me\r\n" + more +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST(HttpServer, PassesBodiesAndTheAuthorizationToTheHandlerOnRequest) {
  const auto server = started({.body_bytes = 1000}, describe);
  EXPECT_NE(fetch(*server, put("some text")).find("PUT /a by me: some text"), std::string::npos);
  EXPECT_NE(fetch(*server, put("")).find("PUT /a by me: "), std::string::npos);
  EXPECT_NE(fetch(*server, put(std::string(1000, 'x'))).find("200 OK"), std::string::npos);
  const auto gone = fetch(*server, "DELETE /a HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_NE(gone.find("DELETE /a by : "), std::string::npos) << gone;
  const auto posted = fetch(*server,
                            "POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                            "3\r\nabc\r\n0\r\n\r\n");
  EXPECT_NE(posted.find("POST /b by : abc"), std::string::npos) << posted;
  EXPECT_NE(fetch(*server, "GET /c HTTP/1.1\r\n\r\n").find("GET /c"), std::string::npos);
  EXPECT_NE(fetch(*server, "PATCH /c HTTP/1.1\r\n\r\n").find(" 405 "), std::string::npos);
}

TEST(HttpServer, ABodyBeyondTheLimitNeverReachesTheHandler) {
  const auto server = started({.whole_request = milliseconds{1'000}, .body_bytes = 1000}, describe);
  EXPECT_EQ(fetch(*server, put(std::string(1001, 'x'))).rfind("HTTP/1.1 413", 0), 0u);
  const auto fd = dial(*server);
  send_text(fd, "PUT /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 1000; ++i) send_text(fd, "20\r\n" + std::string(32, 'x') + "\r\n");
  EXPECT_EQ(read_all(fd).find("PUT /a"), std::string::npos);
  for (const char* odd : {"Content-Encoding: gzip\r\n", "Content-Encoding: br\r\n",
                          "Content-Type: multipart/form-data; boundary=x\r\n"}) {
    EXPECT_EQ(fetch(*server, put("x", odd)).rfind("HTTP/1.1 415", 0), 0u) << odd;
  }
  EXPECT_EQ(fetch(*server, put("short", "Content-Length: 900\r\n")).find("PUT /a"),
            std::string::npos);
  EXPECT_NE(fetch(*server, put("still there")).find("still there"), std::string::npos);
}

// ThreadSanitizer keeps what it knows of a thread at the top of its stack.
#if defined(__SANITIZE_THREAD__)
constexpr std::size_t kSmallStack = std::size_t{8} << 20;
#else
constexpr std::size_t kSmallStack = std::size_t{256} << 10;
#endif

// Of threads that are started while it lives.
class SmallStacks {
 public:
  SmallStacks() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t small = before_;
    ::pthread_attr_setstacksize(&small, kSmallStack);
    ::pthread_setattr_default_np(&small);
  }
  ~SmallStacks() { ::pthread_setattr_default_np(&before_); }

 private:
  pthread_attr_t before_{};
};

// A std::regex over them recurses for each character: 8 KiB of it need more than this stack.
TEST(HttpServer, LongPathsAndHeadersOfStrangersNeedNoDeepStack) {
  const SmallStacks small;
  const auto server = started({.body_bytes = 1000}, describe);
  const std::string path = "/" + std::string(7'900, 'a');
  for (const char* method : {"PUT", "POST", "DELETE"}) {
    const auto answer = fetch(*server, std::string(method) + " " + path +
                                           " HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab");
    EXPECT_EQ(answer.rfind("HTTP/1.1 200", 0), 0u) << method;
    EXPECT_TRUE(answer.ends_with(": ab")) << method;
  }
  std::string ranges = "bytes=0-0";
  while (ranges.size() < 7'900) ranges += ",1-1";
  const auto answer = fetch(*server, "GET /a HTTP/1.1\r\nRange: " + ranges + "\r\n\r\n");
  EXPECT_EQ(answer.rfind("HTTP/1.1 200", 0), 0u) << answer.substr(0, 200);
  EXPECT_TRUE(answer.ends_with("GET /a by : ")) << "a range is not supported: all is sent";
}

}  // namespace
}  // namespace paddle::net
