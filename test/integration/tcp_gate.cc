// SPDX-License-Identifier: Apache-2.0
#include "test/integration/tcp_gate.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace paddle::test {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

TcpGate::TcpGate(int target_port)
    : target_port_(target_port), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) return;
  ::listen(listener_.get(), 64);
  ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this](std::stop_token stop) { run(stop); });
}

TcpGate::~TcpGate() = default;

bool TcpGate::forward(const UniqueFd& from, const UniqueFd& to) {
  char bytes[65536];
  const ssize_t got = ::recv(from.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (got <= 0) return false;
  for (ssize_t sent = 0; sent < got;) {
    const ssize_t n = ::send(to.get(), bytes + sent, static_cast<size_t>(got - sent), MSG_NOSIGNAL);
    if (n <= 0) return false;
    sent += n;
  }
  return true;
}

void TcpGate::run(std::stop_token stop) {
  bool was_shut = false;
  while (!stop.stop_requested()) {
    const bool shut = shut_;
    if (was_shut && !shut) pairs_.clear();
    was_shut = shut;

    std::vector<pollfd> watched{{listener_.get(), POLLIN, 0}};
    for (const auto& pair : pairs_) {
      const short events = shut ? 0 : POLLIN;
      watched.push_back({shut ? -1 : pair.client.get(), events, 0});
      watched.push_back({shut ? -1 : pair.server.get(), events, 0});
    }
    ::poll(watched.data(), watched.size(), 10);
    for (size_t i = 0; i < pairs_.size(); ++i) {
      if (shut_) break;  // it was shut while we waited
      Pair& pair = pairs_[i];
      if (watched[1 + 2 * i].revents != 0) pair.ended |= !forward(pair.client, pair.server);
      if (watched[2 + 2 * i].revents != 0) pair.ended |= !forward(pair.server, pair.client);
    }
    std::erase_if(pairs_, [](const Pair& pair) { return pair.ended; });
    if (watched[0].revents != 0) {
      Pair pair{UniqueFd(::accept(listener_.get(), nullptr, nullptr)),
                UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
      const sockaddr_in target = loopback(target_port_);
      const bool connected =
          ::connect(pair.server.get(), reinterpret_cast<const sockaddr*>(&target), sizeof target) ==
          0;
      if (pair.client && connected) pairs_.push_back(std::move(pair));
    }
  }
}

}  // namespace paddle::test
