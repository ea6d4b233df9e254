// SPDX-License-Identifier: Apache-2.0
#include "test/juicefs/counting_proxy.h"

#include <array>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace paddle::test {
namespace {

constexpr int kPollMilliseconds = 100;

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Relays once; returns the number of bytes, 0 at the end.
ssize_t pass_on(const UniqueFd& from, const UniqueFd& to) {
  std::array<char, 64UL * 1024> room{};
  const ssize_t got = ::recv(from.get(), room.data(), room.size(), 0);
  ssize_t sent = 0;
  while (sent < got) {
    const ssize_t n =
        ::send(to.get(), room.data() + sent, static_cast<size_t>(got - sent), MSG_NOSIGNAL);
    if (n <= 0) return 0;
    sent += n;
  }
  return got > 0 ? got : 0;
}

}  // namespace

CountingProxy::CountingProxy(int target_port)
    : target_port_(target_port), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool listens = ::bind(listener_.get(), generic, size) == 0 &&
                       ::listen(listener_.get(), 64) == 0 &&
                       ::getsockname(listener_.get(), generic, &size) == 0;
  EXPECT_TRUE(listens) << "no port for the proxy";
  port_ = ntohs(address.sin_port);
  acceptor_ = std::jthread([this](const std::stop_token& stop) { accept_all(stop); });
}

CountingProxy::~CountingProxy() {
  acceptor_.request_stop();
  acceptor_.join();
  served_.clear();
}

void CountingProxy::accept_all(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    pollfd ready{.fd = listener_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kPollMilliseconds) <= 0) continue;
    UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client) continue;
    served_.emplace_back([this, held = std::make_shared<UniqueFd>(std::move(client))](
                             const std::stop_token& end) { relay(end, std::move(*held)); });
  }
  for (auto& thread : served_) thread.request_stop();
}

void CountingProxy::relay(const std::stop_token& stop, UniqueFd client) {
  const UniqueFd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(target_port_);
  if (::connect(server.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return;
  }
  while (!stop.stop_requested()) {
    std::array<pollfd, 2> ready{pollfd{.fd = client.get(), .events = POLLIN, .revents = 0},
                                pollfd{.fd = server.get(), .events = POLLIN, .revents = 0}};
    if (::poll(ready.data(), ready.size(), kPollMilliseconds) <= 0) continue;
    if (ready[0].revents != 0 && pass_on(client, server) == 0) return;
    if (ready[1].revents != 0) {
      const ssize_t passed = pass_on(server, client);
      if (passed == 0) return;
      bytes_ += passed;
    }
  }
}

}  // namespace paddle::test
