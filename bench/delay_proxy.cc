// SPDX-License-Identifier: Apache-2.0
//
// Adds latency between a client and a server, for machines without netem.
//
//   delay_proxy ADDRESS PORT TARGET_PORT ROUND_TRIP_MS
//
// Listens on ADDRESS:PORT and forwards to 127.0.0.1:TARGET_PORT. Each piece of data is forwarded
// half a round trip after it arrived, in each direction; the first data of a new connection waits
// one round trip more, for the handshake. It adds latency and does not limit throughput: up to
// kUnderWay bytes per direction are in flight. Prints "listening" once it listens; ends with
// SIGTERM.

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <list>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace paddle {
namespace {

constexpr std::size_t kUnderWay = 8 << 20;
constexpr std::size_t kPiece = 64 << 10;

struct Piece {
  BootTime due{};
  std::string bytes{};  // empty: the end of the stream
};

// One direction of a connection.
struct Stream {
  int from = -1;
  int to = -1;
  std::deque<Piece> under_way{};
  std::size_t held = 0;
  std::size_t written = 0;  // of the first piece
  bool read_all = false;
  bool done = false;

  bool wants_data() const { return !read_all && held < kUnderWay; }
  bool has_due(BootTime now) const { return !under_way.empty() && under_way.front().due <= now; }
};

struct Connection {
  UniqueFd client{};
  UniqueFd server{};
  Stream up{};
  Stream down{};
  BootTime open_from{};  // nothing is forwarded before
  bool broken = false;
};

void take_in(Stream& stream, Connection& connection, BootTime due) {
  std::string bytes(kPiece, '\0');
  const ssize_t got = ::recv(stream.from, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0) {
    connection.broken = errno != EAGAIN && errno != EINTR;
    return;
  }
  bytes.resize(static_cast<std::size_t>(got));
  stream.read_all = got == 0;
  stream.held += bytes.size();
  stream.under_way.push_back({std::max(due, connection.open_from), std::move(bytes)});
}

void hand_on(Stream& stream, Connection& connection, BootTime now) {
  while (stream.has_due(now)) {
    const std::string& bytes = stream.under_way.front().bytes;
    if (bytes.empty()) {
      ::shutdown(stream.to, SHUT_WR);
      stream.done = true;
      stream.under_way.clear();
      return;
    }
    const ssize_t put = ::send(stream.to, bytes.data() + stream.written,
                               bytes.size() - stream.written, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put < 0) {
      connection.broken = errno != EAGAIN && errno != EINTR;
      return;
    }
    stream.written += static_cast<std::size_t>(put);
    if (stream.written < bytes.size()) return;
    stream.held -= bytes.size();
    stream.written = 0;
    stream.under_way.pop_front();
  }
}

sockaddr_in address_of(const char* host, const char* port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port)));
  ::inet_pton(AF_INET, host, &address.sin_addr);
  return address;
}

UniqueFd tcp() {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  return fd;
}

class Proxy {
 public:
  Proxy(UniqueFd listener, sockaddr_in target, std::chrono::nanoseconds round_trip)
      : listener_(std::move(listener)), target_(target), round_trip_(round_trip) {}

  void run() {
    for (;;) turn();
  }

 private:
  void turn() {
    std::vector<pollfd> watched{{listener_.get(), POLLIN, 0}};
    BootTime now = system_clock().boot();
    BootTime next = now + std::chrono::seconds{1};
    for (Connection& each : connections_) {
      for (Stream* stream : {&each.up, &each.down}) watch(*stream, now, watched, next);
    }
    const auto wait = std::chrono::duration_cast<std::chrono::nanoseconds>(next - now).count();
    const timespec limit{wait / 1'000'000'000, wait % 1'000'000'000};
    ::ppoll(watched.data(), watched.size(), &limit, nullptr);
    now = system_clock().boot();
    std::size_t at = 1;
    for (Connection& each : connections_) {
      for (Stream* stream : {&each.up, &each.down}) {
        if (watched[at++].revents != 0) take_in(*stream, each, now + round_trip_ / 2);
        ++at;
        hand_on(*stream, each, now);
      }
    }
    connections_.remove_if(
        [](const Connection& each) { return each.broken || (each.up.done && each.down.done); });
    if (watched[0].revents != 0) welcome(now);
  }

  // Two entries per stream: source and destination; a negative descriptor is skipped.
  static void watch(const Stream& stream, BootTime now, std::vector<pollfd>& watched,
                    BootTime& next) {
    watched.push_back({stream.wants_data() ? stream.from : -1, POLLIN, 0});
    watched.push_back({stream.has_due(now) ? stream.to : -1, POLLOUT, 0});
    if (!stream.under_way.empty() && !stream.has_due(now)) {
      next = std::min(next, stream.under_way.front().due);
    }
  }

  void welcome(BootTime now) {
    Connection connection;
    connection.client = UniqueFd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    connection.server = tcp();
    const int yes = 1;
    ::setsockopt(connection.client.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    const auto* target = reinterpret_cast<const sockaddr*>(&target_);
    if (!connection.client || ::connect(connection.server.get(), target, sizeof target_) != 0) {
      return;
    }
    connection.up = {.from = connection.client.get(), .to = connection.server.get()};
    connection.down = {.from = connection.server.get(), .to = connection.client.get()};
    connection.open_from = now + round_trip_ + round_trip_ / 2;
    connections_.push_back(std::move(connection));
  }

  const UniqueFd listener_;
  const sockaddr_in target_;
  const std::chrono::nanoseconds round_trip_;
  std::list<Connection> connections_{};
};

int run(char** argv) {
  const sockaddr_in address = address_of(argv[1], argv[2]);
  UniqueFd listener = tcp();
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), 128) != 0) {
    std::perror("delay_proxy");
    return 1;
  }
  std::puts("listening");
  std::fflush(stdout);
  Proxy(std::move(listener), address_of("127.0.0.1", argv[3]),
        std::chrono::milliseconds{std::atoi(argv[4])})
      .run();
  return 0;
}

}  // namespace
}  // namespace paddle

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: delay_proxy ADDRESS PORT TARGET_PORT ROUND_TRIP_MS\n");
    return 2;
  }
  return paddle::run(argv);
}
